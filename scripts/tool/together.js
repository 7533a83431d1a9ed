// Runs several compiled test files one after the other in this process, each as a test of its own
// name: most of what a small file costs is to load what the others load too. A file that leaves the
// process otherwise than it found it fails: the next one would be run in what it left.
// SALLYPORT_TESTS_TOGETHER names the compiled files: tap makes names of folders of the arguments.
import { delimiter } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sourceOf } from './order.js'
import spending from './spent.cjs'
import { treeDir } from './tree.js'

const { real, use } = await import(`${treeDir}/node_modules/tap/index.js`)

// Tap itself listens to signals, from its first test on.
const listened = new Set()
process.on('newListener', (event) => {
  const lines = new Error().stack.split('\n')
  const caller = lines[lines.findLastIndex((line) => line.includes('node:events')) + 1]
  if (caller?.includes('/node_modules/') === false) listened.add(event)
})

/** What a library says to itself when it is loaded, and no test reads: that of sharp. */
const ofLibraries = new Set(['VIPSHOME'])

/** What of a process the files in it share and could change, by name. */
const standing = () => ({
  ...Object.fromEntries(Object.entries(process.env)
    .filter(([name]) => !ofLibraries.has(name)).map(([name, value]) => [`env ${name}`, value])),
  ...Object.fromEntries([...listened].map((event) =>
    [`on ${String(event)}`, process.listenerCount(event)])),
  cwd: process.cwd(),
})

const changes = (before, after) => [...new Set([...Object.keys(before), ...Object.keys(after)])]
  .filter((name) => (before[name] ?? 0) !== (after[name] ?? 0))

for (const file of process.env.SALLYPORT_TESTS_TOGETHER.split(delimiter)) {
  const name = sourceOf(file)
  const begun = { cpu: spending.spent(), wall: process.uptime() }
  process.env.SALLYPORT_TEST_FILE = name
  const before = standing()
  await real.test(name, async (t) => {
    // What the file asks of tap's own `t` it asks of its place in this stream.
    use(t)
    await import(pathToFileURL(file))
  })
  spending.note(name, spending.spent() - begun.cpu, process.uptime() - begun.wall)
  const changed = changes(before, standing())
  if (changed.length > 0) {
    real.fail(`${name} changes the process that it shares (${changed.join(', ')})`)
  }
}
