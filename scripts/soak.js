// `npm run soak [-- ROUNDS [PART]]`: the long loops of test/support/soak/*.ts, each `run(rounds)`.
// What counts minutes says so (`unit`), and how many where none are given (`usual`). The test run
// calls the same functions with a few rounds.
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
const given = process.argv[2]
const part = process.argv[3] ?? ''
const modules = filesBelow(`${treeDir}/test/support/soak`)
  .filter((path) => path.endsWith('.js') && !path.endsWith('.test.js'))
  .filter((path) => basename(path).includes(part))
  .sort()
for (const path of modules) {
  const { run, unit = 'rounds', usual = roundsDefault } = await import(path)
  if (typeof run !== 'function') continue
  const rounds = Number(given ?? usual)
  console.log(`${basename(path, '.js')}: ${rounds} ${unit}`)
  await run(rounds)
}
