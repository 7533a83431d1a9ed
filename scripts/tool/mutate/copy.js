// A copy of the project that may be broken: the checkout itself is never touched.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.js'

const parts = [
  'bench', 'bin', 'changelog', 'completions', 'docs', 'man', 'scripts', 'src', 'test',
  '.build/tree', 'package.json', 'package-lock.json', 'tsconfig.json', '.oxlintrc.json',
  'README.md', '.ci', '.taprc',
]

/**
 * Copies the project and its compiled tree to `dir`. What builds a tree works there on the copy,
 * as its root is where its own file lies.
 * @returns {Promise<{ dir: string, appDir: string, build(): Promise<readonly string[]>,
 *   outputOf(path: string): string, write(file: string, text: string): void,
 *   read(file: string): string }>} `build` compiles what changed and bundles the program; it gives
 *   what did not compile
 */
export const copyProject = async (dir) => {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(join(dir, '.build'), { recursive: true })
  // Times are kept, so that nothing is compiled that the checkout has compiled.
  const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }
  for (const part of parts) cpSync(join(root, part), join(dir, part), options)
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  const { compileTree, outputOf } = await import(`${dir}/scripts/tool/tree.js`)
  const { appDir, bundleApp } = await import(`${dir}/scripts/tool/app.js`)
  return {
    dir,
    appDir,
    build: async () => {
      const problems = await compileTree()
      if (problems.length > 0) return problems
      return bundleApp().then(() => [], (error) => [error.message.split('\n')[0]])
    },
    outputOf: (file) => outputOf(join(dir, file)),
    write: (file, text) => writeFileSync(join(dir, file), text),
    read: (file) => readFileSync(join(dir, file), 'utf8'),
  }
}
