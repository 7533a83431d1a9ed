// `node scripts/generate.js`: writes man pages and completions from the command tree.
// With `--check` it writes nothing and fails when a file differs or should not be there.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { compileTree, treeDir } from './tool/tree.js'
import { root } from './tool/run.js'

const check = process.argv.includes('--check')
await compileTree()
const { generatedFiles } = await import(`${treeDir}/src/cli/generate.js`)
const { describingDeps } = await import(`${treeDir}/src/cli/describing.js`)
const wanted = await generatedFiles(describingDeps())

const folders = ['man', 'completions']
const present = folders.flatMap((folder) => {
  mkdirSync(`${root}/${folder}`, { recursive: true })
  return readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}`)
})
const stray = present.filter((path) => !wanted.has(path))
const differing = [...wanted].filter(
  ([path, text]) => !present.includes(path) || readFileSync(`${root}/${path}`, 'utf8') !== text,
)
if (check) {
  for (const path of stray) console.error(`${path} is of no command`)
  for (const [path] of differing) console.error(`${path} differs: run npm run generate`)
  process.exitCode = stray.length + differing.length === 0 ? 0 : 1
} else {
  for (const path of stray) rmSync(`${root}/${path}`)
  for (const [path, text] of differing) writeFileSync(`${root}/${path}`, text)
}
