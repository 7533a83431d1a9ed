// Runs several compiled test files one after the other in this process, each as a test of its own
// name: most of what a small file costs is to load what the others load too.
// SALLYPORT_TESTS_TOGETHER names the compiled files: tap makes names of folders of the arguments.
import { delimiter } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sourceOf } from './order.js'
import spending from './spent.cjs'
import { treeDir } from './tree.js'

const { real, use } = await import(`${treeDir}/node_modules/tap/index.js`)

for (const file of process.env.SALLYPORT_TESTS_TOGETHER.split(delimiter)) {
  const name = sourceOf(file)
  const before = { cpu: spending.spent(), wall: process.uptime() }
  process.env.SALLYPORT_TEST_FILE = name
  await real.test(name, async (t) => {
    // What the file asks of tap's own `t` it asks of its place in this stream.
    use(t)
    await import(pathToFileURL(file))
  })
  spending.note(name, spending.spent() - before.cpu, process.uptime() - before.wall)
}
