// Compiles src, test and bench one file to one file into .build/tree, so that tests start without
// a compiler, dynamic imports stay imports, and coverage maps back line by line.
import {
  copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs'
import { dirname, relative } from 'node:path'
import { transform } from 'esbuild'
import { filesBelow } from './files.js'
import { root } from './run.js'
import { bundleTap } from './tap-in-one.js'

/** Where the compiled tree lies; it mirrors the project. */
export const treeDir = `${root}/.build/tree`

const sources = ['src', 'test', 'bench']

/**
 * Compiles every source file that is newer than its output and drops outputs without a source.
 * @returns {Promise<readonly string[]>} one line per file that does not compile
 */
export const compileTree = async () => {
  const files = sources.flatMap((dir) => filesBelow(`${root}/${dir}`))
  const problems = []
  for (const file of files.filter(isStale)) {
    try {
      await compile(file)
    } catch (error) {
      rmSync(outputOf(file), { force: true })
      problems.push(`${relative(root, file)}: ${error.message.split('\n')[1] ?? error.message}`)
    }
  }
  dropOrphans(new Set(files.map(outputOf)))
  await bundleTap(treeDir)
  return problems
}

/** Compiled file of a source file; files of other types keep their name. */
export const outputOf = (file) =>
  `${treeDir}/${relative(root, file)}`.replace(/(?<!\.d)\.ts$/, '.js')

const isStale = (file) => {
  const output = statSync(outputOf(file), { throwIfNoEntry: false })
  return output === undefined || output.mtimeMs < statSync(file).mtimeMs
}

const compile = async (file) => {
  const output = outputOf(file)
  mkdirSync(dirname(output), { recursive: true })
  if (output.endsWith('.ts') || !file.endsWith('.ts')) return copyFileSync(file, output)
  const { code, map } = await transform(readFileSync(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'external',
    sourcefile: relative(dirname(output), file),
    sourcesContent: false,
    logLevel: 'silent',
  })
  const name = output.slice(output.lastIndexOf('/') + 1)
  publish(`${output}.map`, map)
  publish(output, `${code}//# sourceMappingURL=${name}.map\n`)
}

// Two test runs may compile the same tree at once: neither may see half a file.
const publish = (path, text) => {
  const temp = `${path}.${process.pid}.tmp`
  writeFileSync(temp, text)
  renameSync(temp, path)
}

const dropOrphans = (wanted) => {
  const orphans = sources.flatMap((dir) => filesBelow(`${treeDir}/${dir}`)).filter(
    (path) => !wanted.has(path.replace(/\.map$/, '')) && !path.endsWith('.tmp'),
  )
  for (const path of orphans) rmSync(path, { force: true })
}
