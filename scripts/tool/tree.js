// Compiles src, test and bench one file to one file into .build/tree, so that tests start without
// a compiler, dynamic imports stay imports, and coverage maps back line by line.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { transform, version } from 'esbuild'
import { filesBelow } from './files.js'
import { root } from './run.js'
import { seedProperties } from './seeded-properties.js'
import { bundleTap } from './tap-in-one.js'

/** Where the compiled tree lies; it mirrors the project. */
export const treeDir = `${root}/.build/tree`

const sources = ['src', 'test', 'bench']

/**
 * Compiles every source file whose output is of another text, and drops outputs without a source.
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
  seedProperties(treeDir)
  return problems
}

/** Compiled file of a source file; files of other types keep their name. */
export const outputOf = (file) =>
  `${treeDir}/${relative(root, file)}`.replace(/(?<!\.d)\.ts$/, '.js')

// By content: a file that was put back, copied or checked out may be older than what was made of
// another text of it.
const isStale = (file) => {
  const output = outputOf(file)
  try {
    const source = readFileSync(file)
    if (isCopied(file)) return !source.equals(readFileSync(output))
    return !readFileSync(output, 'utf8').endsWith(endOf(output, source))
      || !readFileSync(`${output}.map`, 'utf8').endsWith('}\n')
  } catch {
    return true
  }
}

const isCopied = (file) => outputOf(file).endsWith('.ts') || !file.endsWith('.ts')

const options = {
  loader: 'ts',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'external',
  sourcesContent: false,
  logLevel: 'silent',
}

/** The last lines of an output: what it was made of, and where its map is. */
const endOf = (output, source) => {
  const hash = createHash('sha256').update(JSON.stringify([version, options])).update(source)
  const name = output.slice(output.lastIndexOf('/') + 1)
  return `//# compiled=${hash.digest('hex')}\n//# sourceMappingURL=${name}.map\n`
}

const compile = async (file) => {
  const output = outputOf(file)
  mkdirSync(dirname(output), { recursive: true })
  const source = readFileSync(file)
  if (isCopied(file)) return publish(output, source)
  const sourcefile = relative(dirname(output), file)
  const { code, map } = await transform(source.toString('utf8'), { ...options, sourcefile })
  publish(`${output}.map`, map)
  publish(output, `${code}${endOf(output, source)}`)
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
