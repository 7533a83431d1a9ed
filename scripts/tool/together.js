// Runs several compiled test files one after the other in this process, each as a test of its own
// name: most of what a small file costs is to load what the others load too.
// SALLYPORT_TESTS_TOGETHER names the compiled files: tap makes names of folders of the arguments.
import { delimiter, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { treeDir } from './tree.js'

const { real, use } = await import(`${treeDir}/node_modules/tap/index.js`)

for (const file of process.env.SALLYPORT_TESTS_TOGETHER.split(delimiter)) {
  const name = relative(treeDir, file).replace(/\.js$/, '.ts')
  await real.test(name, async (t) => {
    // What the file asks of tap's own `t` it asks of its place in this stream.
    use(t)
    await import(pathToFileURL(file))
  })
}
