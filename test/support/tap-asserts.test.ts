/** What may pass whatever happens is refused by the types of the assertions, whatever its name. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const root = process.cwd()

/** Lines of a test that are right. */
const right = [
  't.ok(maybe)', 't.notOk(maybe)', 't.ok(loose)', 't.equal(await later, 1)', 't.equal(loose, 1)',
  "t.match(String(loose), 'a')", "t.hasStrict(box, { a: 1 })", 't.matchStrict(box, { a: /1/ })',
  "t.throws(() => now(), { code: 'a' })", "t.throws(() => now(), /a/)",
  "t.throws(() => now(), new Error('a'))", 't.doesNotThrow(() => now())',
  "await t.rejects(later, { name: 'A' }, 'a')", 'await t.resolves(later)', 't.type(box, Object)',
  'await t.test("deeper", async (sub) => { sub.equal(1, 1) })',
]

/** Lines that are refused. */
const wrong = [
  't.ok(later)', 't.notOk(later)', 't.equal(later, 1)', 't.not(later, 1)', 't.strictSame(later, 1)',
  't.strictNotSame(later, 1)', 't.hasStrict(later, {})', 't.matchStrict(later, {})',
  "t.match(later, 'a')", "t.type(later, 'object')", 't.equal(maybeLater, 1)', 't.ok(maybeLater)',
  't.ok(box)', 't.ok([])', 't.notOk(box)', 't.ok(await laterBox)',
  't.throws(() => now())', "t.throws(() => now(), 'a message')", 't.throws(() => now(), Error)',
  't.throws(() => now(), {})', 't.throws(() => now(), undefined)', "t.throws(() => later, /a/)",
  't.doesNotThrow(() => later)', 't.doesNotThrow(async () => now())',
  'await t.rejects(later)', "await t.rejects(later, 'a message')", 'await t.rejects(later, Error)',
  'await t.rejects(later, {})', 'await t.rejects(now(), /a/)',
  't.same(1, 1)', 't.notSame(1, 2)', 't.has(box, {})', 't.notHas(box, {})', 't.matchOnly(box, {})',
  't.match(box, { a: 1 })', "t.match('a', undefined)", 't.match(1, 1)', "t['same'](1, 1)",
  'const { same } = t; same(1, 1)',
  'await t.test("deeper", async (sub) => { sub.same(1, 1) })',
  'await t.test("deeper", async (sub) => { sub.ok(later) })',
]

const before = [
  "import t from 'tap'", 'declare const later: Promise<number>', 'declare const loose: any',
  'declare const maybeLater: Promise<number> | undefined', 'declare const box: { a: number }',
  'declare const laterBox: Promise<{ a: number }>', 'declare const maybe: { a: number } | null',
  'declare const now: () => number',
]

t.test('an assertion that may pass whatever happens does not compile, and one that says what must be does', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-asserts-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({
    extends: join(root, 'tsconfig.json'), include: ['a.ts'],
    compilerOptions: { noUnusedLocals: false },
  }))
  const all = [...before, ...right, ...wrong]
  const text = all.map((line, at) =>
    (at < before.length ? line : `export const of${at} = async () => { ${line} }`))
  writeFileSync(join(dir, 'a.ts'), `${text.join('\n')}\n`)
  const { stdout } = spawnSync(process.execPath, [
    join(root, 'node_modules/typescript7/bin/tsc'), '--noEmit', '--pretty', 'false',
    '--project', dir,
  ], { encoding: 'utf8', cwd: dir })
  const found = new Set([...stdout.matchAll(/^a\.ts\((\d+),/gm)]
    .map(([, line]) => all[Number(line) - 1]))
  t.strictSame([...found], wrong, stdout.slice(0, 4_000))
  t.end()
})
