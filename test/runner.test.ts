/** What the runner itself calls a failure, beside failed assertions. */
import { spawnSync } from 'node:child_process'
import {
  cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const root = process.cwd()
const tool = (name: string): string => join(root, 'scripts/tool', name)

interface Counted {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly cited: readonly string[]
  readonly problems: readonly string[]
}

/** Counts a stream of TAP in a process of its own: what it prints is no TAP of this one. */
const counted = (tap: string): Counted => {
  const script = `const { countTap } = await import('${pathToFileURL(tool('count.js')).href}')
    const run = await countTap(process.stdin)
    console.log(JSON.stringify({ ...run, cited: [...run.cited] }))`
  const { stdout } = spawnSync(
    process.execPath, ['--input-type=module', '--eval', script], { input: tap, encoding: 'utf8' },
  )
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Counted
}

/** One file with these lines of one test in it. */
const file = (title: string, lines: readonly string[]): string => [
  'TAP version 14', '# Subtest: test/a.test.ts', `    # Subtest: ${title}`,
  ...lines.map((line) => `        ${line}`), `        1..${lines.length}`,
  `    ${lines.some((line) => line.startsWith('not')) ? 'not ok' : 'ok'} 1 - ${title}`,
  '    1..1', 'ok 1 - test/a.test.ts', '1..1', '',
].join('\n')

t.test('a passing test is counted, and the rows that its title names are cited', async (t) => {
  const run = counted(file('A-001 S-002 it holds', ['ok 1 - one', 'ok 2 - two']))
  t.strictSame(run, {
    passed: 2, failed: 0, skipped: 0, files: 1, titles: 1, cited: ['A-001', 'S-002'],
    problems: [],
  })
  const failed = counted(file('A-001 it does not', ['not ok 1 - one']))
  t.strictSame([failed.failed, failed.cited], [1, []], 'a failing test cites nothing')
})

t.test('files that share a process are counted and told one by one', async (t) => {
  const both = file('A-001 it holds', ['ok 1 - one']).split('\n').slice(1, -3)
    .concat(['ok 1 - test/a.test.ts', '# Subtest: test/b.test.ts', '    1..0',
      'ok 2 - test/b.test.ts', '1..2'])
  const name = 'several files: test/a.test.ts and 1 more'
  const stream = (ok: string): string => ['TAP version 14', `# Subtest: ${name}`,
    ...both.map((line) => `    ${line}`), `${ok} 1 - ${name}`, '1..1', ''].join('\n')
  const run = counted(stream('ok'))
  t.strictSame(run, {
    passed: 1, failed: 0, skipped: 0, files: 2, titles: 1, cited: ['A-001'],
    problems: ['asserts nothing: test/b.test.ts'],
  })
  t.equal(counted(stream('not ok')).failed, 1, 'a process that broke off is a failure')
})

t.test('only files that nothing of another could disturb share a process', async (t) => {
  const { inProcesses } = (await import(tool('order.js'))) as {
    inProcesses(files: readonly string[]): readonly (readonly string[])[]
  }
  const of = (name: string): string => join(root, '.build/tree/test', `${name}.test.js`)
  const apart = ['alpha/soak', 'state/lock', 'shots/payload', 'images/hostile'].map(of)
  const shared = ['runner', 'net/client', 'base/canonical', 'base/errors'].map(of)
  t.strictSame(inProcesses([...apart, ...shared]), [
    ...apart.map((one) => [one]), ...shared.slice(0, 2).map((one) => [one]), shared.slice(2),
  ])
})

t.test('the files of a folder are dealt out in turn, and each is run once', async (t) => {
  const { inProcesses } = (await import(tool('order.js'))) as {
    inProcesses(files: readonly string[]): readonly (readonly string[])[]
  }
  const names = [
    'admit', 'cancel', 'close', 'lease', 'long-work', 'model', 'move', 'read', 'recover', 'review',
    'states', 'verify', '../policy', '../goals', '../trust',
  ]
  const files = names.map((name) =>
    join(root, '.build/tree/test/governance/board', `${name}.test.js`))
  const [first, second, ...more] = inProcesses(files)
  t.strictSame(more, [])
  t.strictSame(first, files.filter((_, at) => at % 2 === 0))
  t.strictSame(second, files.filter((_, at) => at % 2 === 1))
})

t.test('a file without an assertion and a citing test without one are failures', async (t) => {
  const nothing = counted('TAP version 14\n# Subtest: test/a.test.ts\n    1..0\n'
    + 'ok 1 - test/a.test.ts\n1..1\n')
  t.strictSame(nothing.problems, ['asserts nothing: test/a.test.ts'])
  const empty = counted(file('A-001 it holds', []))
  t.strictSame(empty.cited, [])
  t.ok(empty.problems.some((one) => one.includes('cites a row and asserts nothing')))
})

t.test('a skip or todo fails, unless for a reason that the machine gives', async (t) => {
  const skipped = (directive: string): readonly string[] =>
    counted(file('it holds', ['ok 1 - one', `ok 2 - two # ${directive}`])).problems
  t.strictSame(skipped('SKIP needs /proc'), [])
  for (const directive of ['SKIP', 'SKIP later', 'TODO', 'TODO needs /proc']) {
    t.equal(skipped(directive).length, 1, directive)
  }
})

t.test('a claimed row that no passing test cites fails the run', async (t) => {
  const { citationProblems, requirementRows } = (await import(tool('requirements.js'))) as {
    citationProblems(cited: ReadonlySet<string>, tables: object): readonly string[]
    requirementRows(): { readonly all: readonly string[] }
  }
  const tables = { all: ['A-001', 'A-002', 'C-001'], notClaimed: new Map([['C-*', 'not built']]) }
  t.strictSame(citationProblems(new Set(['A-001', 'A-002']), tables), [])
  t.strictSame(citationProblems(new Set(['A-001']), tables), [
    'row A-002 is cited by no passing test',
  ])
  t.equal(citationProblems(new Set(['A-001', 'A-002', 'A-003']), tables).length, 1, 'no such row')
  const wrong = [['A-001', 'excused'], ['S-009', 'no row'], ['C-*', '']] as const
  for (const one of wrong) {
    const excused = { ...tables, notClaimed: new Map([['C-*', 'not built'] as const, one]) }
    t.equal(citationProblems(new Set(['A-001', 'A-002']), excused).length, 1, one[0])
  }
  t.ok(requirementRows().all.length > 400)
})

t.test('what is compiled follows the text of a source, not its time', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-tree-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  cpSync(join(root, 'scripts'), join(dir, 'scripts'), { recursive: true })
  cpSync(join(root, 'package.json'), join(dir, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  mkdirSync(join(dir, 'src'))
  const source = join(dir, 'src/one.ts')
  const { compileTree, outputOf } = (await import(join(dir, 'scripts/tool/tree.js'))) as {
    compileTree(): Promise<readonly string[]>
    outputOf(path: string): string
  }
  for (const text of ['const a: number = 1', 'const a: number = 2', 'const a: number = 1']) {
    writeFileSync(source, `export ${text}\n`)
    utimesSync(source, 1, 1)
    t.strictSame(await compileTree(), [])
    t.match(readFileSync(outputOf(source), 'utf8'), `const a = ${text.at(-1)}`)
  }
  writeFileSync(source, 'export const = ')
  t.equal((await compileTree()).length, 1)
  t.throws(() => readFileSync(outputOf(source)), { code: 'ENOENT' }, 'nothing old stays')
})
