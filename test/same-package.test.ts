/** Two packages of one commit are compared by every file; compiled code is left out by its name. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from './world/place.js'

interface SamePackage {
  filesOf(folder: string): Map<string, Buffer>
  samePackage(first: ReadonlyMap<string, Buffer>, second: ReadonlyMap<string, Buffer>): {
    readonly compared: number
    readonly compiled: readonly string[]
    readonly differ: readonly string[]
  }
}
const { filesOf, samePackage } =
  await import(join(process.cwd(), 'scripts/tool/same-package.js')) as SamePackage

const loader = (code: string, rest = 'const firsts = []'): string =>
  ['"use strict"', `const code = {"12.4-linux-x64":"${code}"}`, rest, ''].join(';\n')

const packageOf = (changed: Readonly<Record<string, string>> = {}): Map<string, Buffer> =>
  new Map(Object.entries({
    'package.json': '{}', 'dist/a.js': 'a', 'dist/reading.12.4-linux-x64.cache': 'one',
    'dist/packed.js': loader('aa'), ...changed,
  }).map(([name, text]) => [name, Buffer.from(text)]))

t.test('compiled code and its digests may differ, and nothing else', async (t) => {
  const cache = 'dist/reading.12.4-linux-x64.cache'
  t.strictSame(samePackage(packageOf(), packageOf({
    [cache]: 'another', 'dist/packed.js': loader('bb'),
  })), { compared: 3, compiled: [cache], differ: [] })
  for (const [name, text] of [
    ['dist/a.js', 'b'], ['package.json', '{ }'], ['dist/packed.js', loader('aa', 'const x = 1')],
    ['dist/new.js', 'in one alone'], ['docs/a.cache', 'no compiled code'],
    ['dist/other.12.4-linux-x64.cache', 'in one alone'],
  ] as const) {
    t.strictSame(samePackage(packageOf(), packageOf({ [name]: text })).differ, [name])
    t.strictSame(samePackage(packageOf({ [name]: text }), packageOf()).differ, [name])
  }
  t.throws(() => samePackage(packageOf({ 'dist/packed.js': 'x' }), packageOf()), {
    message: 'dist/packed.js has no line of digests to leave out',
  })
})

t.test('the loader that is built has its digests in the line that is left out', async (t) => {
  t.match(readFileSync('scripts/tool/pack.js', 'utf8'), /^const code = CODE;$/m)
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/a.js'), 'a')
  t.strictSame(filesOf(folder), new Map([['dist/a.js', Buffer.from('a')]]))
})
