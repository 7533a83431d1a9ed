// `npm run bench`: runs every bench/*.ts that exports `run()` and prints ratios, side by side.
// Arguments: parts of file names, to run only some. What could not be measured is named at the end,
// with how to install what it is compared with.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { installMissing } from './tool/install.js'

await installMissing()
// Node reads this whole file at each start, on both sides of a pair: it would hide what is added.
delete process.env.NODE_EXTRA_CA_CERTS
await import('./build.js')
const { compileTree, treeDir } = await import('./tool/tree.js')
const { filesBelow } = await import('./tool/files.js')
for (const problem of await compileTree()) console.error(`does not compile: ${problem}`)

const wanted = process.argv.slice(2)
const modules = filesBelow(`${treeDir}/bench`)
  .filter((path) => path.endsWith('.js'))
  .filter((path) => /export\s*\{[^}]*\brun\b/s.test(readFileSync(path, 'utf8')))
  .filter((path) => wanted.length === 0 || wanted.some((part) => basename(path).includes(part)))
  .sort()

const rows = []
for (const path of modules) {
  const { run } = await import(path)
  rows.push(...(await run()))
}
const Table = (await import('cli-table3')).default
const table = new Table({
  head: ['bench', 'ratio', 'target', '', 'detail'], style: { head: [], border: [] }, wordWrap: true,
  colWidths: [38, 10, 16, 8, 60],
})
for (const { name, ratio, target, pass, detail } of rows) {
  const [shown, verdict] = ratio === null
    ? ['not measured', '-'] : [ratio.toFixed(2), pass ? 'ok' : 'MISSED']
  table.push([name, shown, target, verdict, detail])
}
console.log(table.toString())
const needed = new Set(rows.map(({ needs }) => needs).filter((needs) => needs !== undefined))
for (const needs of needed) {
  console.log(`Not measured, because it is not installed: ${needs}`)
  for (const row of rows) if (row.needs === needs) console.log(`  ${row.name}`)
}
process.exitCode = rows.every(({ pass }) => pass) ? 0 : 1
