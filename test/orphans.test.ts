/** Nothing lies in this folder that no test needs. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { filesBelow } from './support/marks.js'

const modules = filesBelow('test').filter((path) => /\.(ts|mjs)$/.test(path))

const programs =
  /(^test\/(?:producer-)?entry|\/children\/|\/watch-sockets|make-fixtures)/

/** Types that stand for those of a package, as the compiler is told. */
const declared = [...readFileSync('tsconfig.json', 'utf8').matchAll(/"\.\/([^"]+\.d\.ts)"/g)]
  .map(([, path = '']) => path)

/** Files that a file imports, and programs that it starts by their name in quotes. */
const neededBy = (path: string): string[] => {
  const text = readFileSync(path, 'utf8')
  const imported = [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)]
    .map(([, to = '']) => normalize(join(dirname(path), to)).replace(/\.js$/, '.ts'))
  const named = [...text.matchAll(/['"`/]([\w-]+)(?:\.(?:js|ts|mjs)|\$\{[^}]*\})?['"`]/g)]
    .map(([, name = '']) => name)
  const started = modules.filter((one) =>
    programs.test(one)
    && named.includes(one.replace(/^.*\//, '').replace(/\.\w+$/, '')))
  return [...imported, ...started]
}

t.test('every file of this folder is a test, or is needed by one', async (t) => {
  const needed = new Set<string>()
  const take = (path: string): void => {
    if (needed.has(path)) return
    needed.add(path)
    for (const one of neededBy(path)) if (modules.includes(one)) take(one)
  }
  for (const path of modules.filter((one) => one.endsWith('.test.ts'))) take(path)
  for (const path of ['bench', 'scripts'].flatMap(filesBelow)) {
    for (const one of neededBy(path)) if (modules.includes(one)) take(one)
  }
  for (const path of declared) take(path)
  t.ok(needed.size > 100, 'the folder was read')
  t.strictSame(modules.filter((path) => !needed.has(path)), [])
})
