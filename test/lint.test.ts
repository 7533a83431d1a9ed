/** Each rule of the lint finds what it forbids, and lets the rest be. */
import { spawnSync } from 'node:child_process'
import {
  cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Teardown } from './world/place.js'

const root = process.cwd()
const config = '.oxlintrc.json'
const outputBytesMax = 2 ** 26
const oxlint = join(root, 'node_modules/oxlint/dist/cli.js')

/** A project with these files and the lint of this one; gives what the lint says, by file. */
const linted = (
  t: Teardown, files: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-lint-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const name of [
    config, 'tsconfig.json', 'package.json', 'scripts/tool/own-rules.js',
    'test/support/tap-asserts.d.ts',
  ]) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    cpSync(join(root, name), join(dir, name))
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  const { stdout } = spawnSync(process.execPath, [
    oxlint, '--type-aware', '--report-unused-disable-directives-severity=error', '--format=json',
  ], { cwd: dir, encoding: 'utf8', maxBuffer: outputBytesMax })
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: readonly { readonly code?: string, readonly filename: string }[]
  }
  const found = new Map<string, string[]>()
  for (const { code = 'unused directive', filename } of diagnostics) {
    const rule = code.replace(/^eslint\((.*)\)$/, '$1').replace(/^(\w+)\((.*)\)$/, '$1/$2')
    found.set(filename, [...(found.get(filename) ?? []), rule])
  }
  return found
}

/** What each rule forbids in every TypeScript source, as lines of a module. */
const everywhere: Readonly<Record<string, string>> = {
  eqeqeq: 'export const a = (b: number): boolean => b == 1',
  'no-array-constructor': 'export const a = new Array(1, 2)',
  'no-console': "console.log('a')",
  'no-eval': "eval('1')",
  'no-unused-expressions': 'export const a = (b: number): void => { b + 1 }',
  'no-unused-vars': 'const a = 1',
  'no-var': 'export var a = 1',
  'prefer-const': 'export const a = (): number => { let b = 1; return b }',
  'prefer-rest-params': 'export function a(): unknown { return arguments[0] }',
  'prefer-spread':
    'export const a = (b: () => void, c: []): void => { b.apply(undefined, c) }',
  'local/named-exports': 'export default 1',
  'typescript/await-thenable': 'export const a = async (b: number): Promise<number> => await b',
  'typescript/ban-ts-comment': '// @ts-nocheck\nexport const a = 1',
  'typescript/consistent-type-imports':
    "import { Place } from './types.js'\nexport const a = (b: Place): Place => b",
  'typescript/no-array-delete': 'export const a = (b: number[]): void => { delete b[0] }',
  'typescript/no-base-to-string': 'export const a = (b: object): string => String(b)',
  'typescript/no-duplicate-enum-values': 'export enum A { b = 1, c = 1 }',
  'typescript/no-duplicate-type-constituents': 'export type A = string | string',
  'typescript/no-empty-object-type': 'export type A = {}',
  'typescript/no-explicit-any': 'export type A = any',
  'typescript/no-extra-non-null-assertion': 'export const a = (b?: string): string => b!!',
  'typescript/no-for-in-array':
    'export const a = (b: number[]): void => { for (const c in b) throw c }',
  'typescript/no-implied-eval': "setTimeout('1', 1)",
  'typescript/no-misused-new': 'export interface A { new (): A }',
  'typescript/no-namespace': 'export namespace A { export const b = 1 }',
  'typescript/no-non-null-asserted-optional-chain':
    'export const a = (b?: { c: string }): string => b?.c!',
  'typescript/no-redundant-type-constituents': 'export type A = string | unknown',
  'typescript/no-require-imports': "export const a: unknown = require('node:fs')",
  'typescript/no-this-alias': 'export class A { b(): unknown { const c = this; return () => c } }',
  'typescript/no-unnecessary-type-assertion': 'export const a = (b: string): string => b!',
  'typescript/no-unnecessary-type-constraint': 'export const a = <B extends unknown>(b: B): B => b',
  'typescript/no-unsafe-declaration-merging':
    'export class A { b = 1 }\nexport interface A { c: 1 }',
  'typescript/no-unsafe-enum-comparison':
    'enum A { b = 1 }\nexport const c = (d: A): boolean => d === 2',
  'typescript/no-unsafe-function-type': 'export type A = Function',
  'typescript/no-unsafe-unary-minus': 'export const a = (b: string): number => -b',
  'typescript/no-wrapper-object-types': 'export type A = String',
  'typescript/only-throw-error': "export const a = (): void => { throw 'b' }",
  'typescript/prefer-as-const': "export const a = 'b' as 'b'",
  'typescript/prefer-namespace-keyword': 'export module A { export const b = 1 }',
  'typescript/prefer-promise-reject-errors':
    "export const a = (): Promise<never> => Promise.reject('b')",
  'typescript/restrict-plus-operands': 'export const a = (b: number): unknown => b + {}',
  'typescript/restrict-template-expressions': 'export const a = (b: unknown): string => `${b}`',
  'typescript/switch-exhaustiveness-check':
    "export const a = (b: 'c' | 'd'): void => { switch (b) { case 'c': throw new Error(b) } }",
  'typescript/triple-slash-reference': '/// <reference path="./types.ts" />\nexport const a = 1',
}

const longFunction =
  `export const a = (): number => {\n${'  Math.max(1)\n'.repeat(70)}  return 1\n}`

/** What each rule forbids in src alone. */
const inSource: Readonly<Record<string, string>> = {
  'max-lines-per-function': longFunction,
  'no-duplicate-imports':
    "import { join } from 'node:path'\nimport type { ParsedPath } from 'node:path'",
  'no-restricted-imports': "export { env } from 'node:process'",
  'local/docstring': '// a\nexport const a = 1',
  'local/one-platform': 'export const a = process.platform',
  'local/own-process': 'export const a = process.env',
  'typescript/no-floating-promises': 'Promise.resolve(1)',
  'typescript/no-import-type-side-effects':
    "import { type Place } from './types.js'\nexport const a = (b: Place): Place => b",
  'typescript/no-misused-promises':
    'export const a = (b: Promise<number>): number => (b ? 1 : 2)',
  'typescript/no-unsafe-argument': "parseInt(JSON.parse('1'))",
  'typescript/no-unsafe-assignment': "export const a: string = JSON.parse('1')",
  'typescript/no-unsafe-call': "JSON.parse('1')()",
  'typescript/no-unsafe-member-access': "export const a: unknown = JSON.parse('1').b",
  'typescript/no-unsafe-return': "export const a = (): string => JSON.parse('1')",
}

/** What each rule forbids in tests alone. */
const inTests: Readonly<Record<string, string>> = {
  'local/own-time-limit': "import t from 'tap'\nt.setTimeout(1)",
  'local/failing-assertion': "import t from 'tap'\nt.ok(1)",
  'typescript/no-floating-promises':
    "import t from 'tap'\nt.rejects(Promise.reject(new Error('a')), /a/)",
  'typescript/no-misused-promises':
    'export const a = (b: Promise<number>): number => (b ? 1 : 2)',
}

const inScripts: Readonly<Record<string, string>> = {
  eqeqeq: 'export const a = (b) => b == 1',
  'max-lines-per-function': longFunction.replace(': number', ''),
  'no-eval': "eval('1')",
  'prefer-const': 'export const a = () => { let b = 1; return b }',
}

/** Planted files: each rule once in every folder that it is for. */
const planted = (
  rules: Readonly<Record<string, string>>, folder: string, end = 'ts',
): Record<string, string> => Object.fromEntries(Object.entries(rules).map(([rule, text]) =>
  [`${folder}/${rule.replace('/', '-')}.${end}`, `${text}\n`]))

const files = {
  'src/types.ts': '/** A place. */\nexport interface Place { readonly b: 1 }\n',
  'test/types.ts': 'export interface Place { readonly b: 1 }\n',
  'bench/types.ts': 'export interface Place { readonly b: 1 }\n',
  ...planted({ ...everywhere, ...inSource }, 'src'),
  'src/base/platform/a.ts': '/** A. */\nexport const a = process.platform\n',
  'src/proc.ts': "/** A. */\nexport const a = ['/proc/self/fd', `/proc/${1}/stat`, '/process']\n",
  ...planted({ ...everywhere, ...inSource, ...inTests }, 'test'),
  ...planted({ ...everywhere, ...inTests }, 'bench'), ...planted(inScripts, 'scripts', 'js'),
  'src/cli/io.ts': '/** The process. */\nexport const env = process.env\n',
  'src/unused.ts': '// eslint-disable-next-line no-console\nexport {}\n',
  'src/allowed.ts': '// eslint-disable-next-line @typescript-eslint/no-explicit-any\ntype A = any\n'
    + '/** A. */\nexport type B = A\n',
}

t.test('every rule of the lint finds what it forbids where it is on, and nothing where it is off', async (t) => {
  const found = linted(t, files)
  const of = (folder: string, rule: string, end = 'ts'): readonly string[] =>
    found.get(`${folder}/${rule.replace('/', '-')}.${end}`) ?? []
  const finds = (folder: string, rules: object): void => {
    for (const rule of Object.keys(rules)) {
      t.ok(of(folder, rule).includes(rule), `${folder} ${rule}`)
    }
  }
  for (const folder of ['src', 'test', 'bench']) {
    finds(folder, everywhere)
    t.strictSame(of(folder, 'types'), [], 'what is right is let be')
  }
  finds('src', inSource)
  for (const rule of Object.keys(inSource).filter((one) => !(one in inTests))) {
    t.notOk(of('test', rule).includes(rule), `test ${rule}`)
  }
  for (const folder of ['test', 'bench']) finds(folder, inTests)
  for (const rule of Object.keys(inScripts)) t.strictSame(of('scripts', rule, 'js'), [rule], rule)
  t.strictSame(found.get('src/cli/io.ts'), undefined, 'the module that owns the process')
  t.strictSame(found.get('src/base/platform/a.ts'), undefined, 'a record of a system')
  t.strictSame(found.get('src/proc.ts'), ['local/one-platform', 'local/one-platform'])
  t.strictSame(found.get('src/unused.ts'), ['unused directive'])
  t.strictSame(found.get('src/allowed.ts'), undefined, 'a directive of its old name')
})

/** Assertions that cannot fail, as lines of a test, and such as can. */
const idle = [
  'void t.rejects(p, /a/)', 'void t.resolves(p)', 't.ok(a.length >= 0)', 't.ok(a.b.size >= 0)',
  't.ok(a.length > -1)', "t.ok('a')", 't.ok(`a`)', 't.notOk(0)', 't.ok(() => a)',
  't.throws(f, /(?:)/)', 't.throws(f, /./)', 't.rejects(p, /^.*$/)', 't.match(a, /.+/)',
  "t.match(a, '')", 't.equal(a.b, a.b)', 't.strictSame(a, a)',
]
const lively = [
  't.ok(a.length > 0)', 't.ok(a.at >= 0)', 't.ok(a.indexOf(1) >= 0)', 't.ok(a === `b`)',
  't.throws(f, /a./)', 't.match(a, /^$|b/)', "t.match(a, 'b')", 't.equal(a(), a())',
  't.equal(a.b, a.c)', 'await t.resolves(p)',
]

t.test('an assertion that cannot fail is found by its text, and one that can is let be', async (t) => {
  const rule = 'local/failing-assertion'
  const files = (kind: string, lines: readonly string[]) => lines.map((line, at) =>
    [`test/${kind}-${at}.ts`, `import t from 'tap'\n${line}\n`] as const)
  const imports = [
    "import { same } from 'tap'", "import { tap } from '@tapjs/core'",
    "import * as a from '@tapjs/test'",
  ]
  const fine = ["import t, { type Test } from 'tap'", "import type { Extra } from '@tapjs/core'"]
  const wrong = [...files('idle', idle), ...files('imports', imports)]
  const found = linted(t, Object.fromEntries([
    ...wrong, ...files('lively', lively), ...files('fine', fine),
  ]))
  const of = [...found].filter(([, rules]) => rules.includes(rule)).map(([name]) => name)
  t.strictSame(of.sort(), wrong.map(([name]) => name).sort())
})

t.test('every rule that is set has a planted violation', async (t) => {
  const text = readFileSync(join(root, config), 'utf8').replace(/^\s*\/\/.*$/gm, '')
  const { overrides } = JSON.parse(text) as {
    overrides: readonly { readonly rules: Readonly<Record<string, unknown>> }[]
  }
  const set = overrides.flatMap(({ rules }) =>
    Object.keys(rules).filter((rule) => rules[rule] !== 'off'))
  const known = [everywhere, inSource, inTests, inScripts].flatMap((of) => Object.keys(of))
  t.strictSame([...new Set(set)].sort(), [...new Set(known)].sort())
})
