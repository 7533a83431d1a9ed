// `npm run soak [-- ROUNDS [PART]]`: the long loops of test/support/soak/*.ts, each `run(rounds)`.
// All that they leave to chance follows from a seed, a new one each time, which is printed;
// `--seed N` makes the same choices again.
// What counts minutes says so (`unit`), and how many where none are given (`usual`). The test run
// calls the same functions with a few rounds.
import { randomInt } from 'node:crypto'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { seedMax } from './tool/asked.js'
import { installMissing } from './tool/install.js'

await installMissing()
const [{ compileTree, treeDir }, { filesBelow }, app] = await Promise.all([
  import('./tool/tree.js'), import('./tool/files.js'), import('./tool/app.js'),
])
for (const problem of await compileTree()) console.error(`does not compile: ${problem}`)
await app.bundlePacked()
process.env.SALLYPORT_TEST_APP = app.packedDir

const roundsDefault = 200
const { values, positionals: [given, part = ''] } = parseArgs({
  options: { seed: { type: 'string', default: String(randomInt(seedMax)) } },
  allowPositionals: true,
})
process.env.SALLYPORT_TEST_SEED = values.seed
console.log(`seed ${values.seed}`)
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
