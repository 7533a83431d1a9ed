// `node scripts/generate.js`: writes man pages, completions and JSON Schemas from the commands, the
// page of refusals from the source, the picture of a terminal from the tutorial, the modules that
// hold the project's WebAssembly, and the column of mutations in the tables of requirements.
// With `--check` it writes nothing and fails when a file differs or should not be there.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { compileTree, treeDir } from './tool/tree.js'
import { refusalsPage } from './tool/refusals.js'
import { tablesWithMutations } from './tool/requirements.js'
import { root } from './tool/run.js'
import { terminalPicture } from './tool/terminal.js'
import { wasmFiles } from './tool/wasm.js'

const check = process.argv.includes('--check')
const modules = [
  ...(await wasmFiles()), ['docs/refusals.md', refusalsPage()],
  ['docs/pictures/terminal.svg', terminalPicture()], ...tablesWithMutations(),
]
const textOf = (path) =>
  existsSync(`${root}/${path}`) ? readFileSync(`${root}/${path}`, 'utf8') : ''
if (!check) for (const [path, text] of modules) writeFileSync(`${root}/${path}`, text)
await compileTree()
const { generatedFiles } = await import(`${treeDir}/src/cli/generate.js`)
const { describingDeps } = await import(`${treeDir}/src/cli/describing.js`)
const wanted = await generatedFiles(describingDeps())

const folders = ['man', 'completions', 'docs/schemas']
const present = folders.flatMap((folder) => {
  mkdirSync(`${root}/${folder}`, { recursive: true })
  return readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}`)
})
const stray = present.filter((path) => !wanted.has(path))
const differing = [...wanted, ...modules].filter(([path, text]) => textOf(path) !== text)
if (check) {
  for (const path of stray) console.error(`${path} is of no command`)
  for (const [path] of differing) console.error(`${path} differs: run npm run generate`)
  process.exitCode = stray.length + differing.length === 0 ? 0 : 1
} else {
  for (const path of stray) rmSync(`${root}/${path}`)
  for (const [path, text] of differing) writeFileSync(`${root}/${path}`, text)
}
