// `npm run soak [-- ROUNDS [PART]]`: the long loops of test/support/soak/*.ts, each `run(rounds)`.
// The test run calls the same functions with a few rounds.
import { basename } from 'node:path'
import { installMissing } from './tool/install.js'

await installMissing()
const [{ compileTree, treeDir }, { filesBelow }, app] = await Promise.all([
  import('./tool/tree.js'), import('./tool/files.js'), import('./tool/app.js'),
])
for (const problem of await compileTree()) console.error(`does not compile: ${problem}`)
await app.bundlePacked()
process.env.SALLYPORT_TEST_APP = app.packedDir

const roundsDefault = 200
const rounds = Number(process.argv[2] ?? roundsDefault)
const part = process.argv[3] ?? ''
const modules = filesBelow(`${treeDir}/test/support/soak`)
  .filter((path) => path.endsWith('.js') && !path.endsWith('.test.js'))
  .filter((path) => basename(path).includes(part))
  .sort()
for (const path of modules) {
  const { run } = await import(path)
  if (typeof run !== 'function') continue
  console.log(`${basename(path, '.js')}: ${rounds} rounds`)
  await run(rounds)
}
