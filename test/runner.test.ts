/** What the runner itself calls a failure, beside failed assertions. */
import { spawnSync } from 'node:child_process'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Teardown } from './world/place.js'
import { isFirstOfVerb } from './world/process.js'

const root = process.cwd()
const tool = (name: string): string => join(root, 'scripts/tool', name)

/** Loads a part of the runner. */
const loaded = async <T>(name: string): Promise<T> => (await import(tool(name))) as T

interface Counted {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly cited: readonly string[]
  readonly problems: readonly string[]
  readonly failures: readonly (readonly string[])[]
}

/** Counts a stream of TAP in a process of its own: what it prints is no TAP of this one. */
const counted = (
  tap: string, { lacking = [], ...options }: { part?: boolean, lacking?: readonly string[] } = {},
): Counted => {
  const script = `const { countTap } = await import('${pathToFileURL(tool('count.js')).href}')
    const lacking = ${JSON.stringify(lacking)}
    const run = await countTap(process.stdin, {
      ...${JSON.stringify(options)}, isLacking: (reason) => lacking.includes(reason),
    })
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
    problems: [], failures: [],
  })
  const failed = counted(file('A-001 it does not', ['not ok 1 - one']))
  t.strictSame([failed.failed, failed.cited], [1, []], 'a failing test cites nothing')
  t.strictSame(failed.failures, [['test/a.test.ts', 'A-001 it does not', 'one']])
})

/** Runs a script with tap as the test files have it, one that prints TAP; gives what is counted. */
const runWithTap = (t: Teardown, lines: readonly string[]): Counted => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-errors-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const script = join(dir, 'errors.mjs')
  const tapFile = pathToFileURL(join(root, '.build/tree/node_modules/tap/index.js')).href
  writeFileSync(script, [
    `import t from '${tapFile}'`,
    'const pause = () => new Promise((resolve) => setTimeout(resolve, 30))', ...lines,
  ].join('\n'))
  const { stdout } = spawnSync(process.execPath, [script], {
    encoding: 'utf8', env: { ...process.env, TAP: '1' },
  })
  const within = stdout.replace(/^TAP version 14\n/, '').replace(/^/gm, '    ')
  return counted([
    'TAP version 14', '# Subtest: test/a.test.ts', within, 'not ok 1 - test/a.test.ts', '1..1', '',
  ].join('\n'))
}

const uncaught: Readonly<Record<string, readonly string[]>> = {
  'thrown later > a': ["t.test('thrown later', async (t) => {",
    "setTimeout(() => { throw new Error('a') })", 'await pause() })'],
  'rejected > b': ["t.test('rejected', async (t) => {",
    "void Promise.reject(new Error('b'))", 'await pause() })'],
  'within > deeper > c': ["t.test('within', async (t) => {",
    "  await t.test('deeper', async (t) => {", "    setTimeout(() => { throw new Error('c') })",
    '    await pause() }) })'],
}

t.test('an error that nobody catches is one of the test that it comes from, and the next test runs', async (t) => {
  for (const [name, lines] of Object.entries(uncaught)) {
    const run = runWithTap(t, [...lines, "t.test('last', async (t) => { t.pass('it runs') })"])
    t.ok(run.failures.some((path) => path.join(' > ') === `test/a.test.ts > ${name}`), name)
    t.equal(run.passed, 1, 'the next one')
  }
  const own = runWithTap(t, [
    "t.test('caught by its own', async (t) => {", '  const seen = []',
    '  const see = (error) => seen.push(error.message)',
    "  process.on('uncaughtException', see).on('unhandledRejection', see)",
    "  setTimeout(() => { throw new Error('d') })", "  void Promise.reject(new Error('e'))",
    '  while (seen.length < 2) await pause()',
    "  t.strictSame(seen.sort(), ['d', 'e'])", '})',
  ])
  t.equal(own.passed, 1, 'what a test looks after itself is none')
})

/** Whether a process is given a part of tap to load; Node's `--eval` takes the text of it. */
const isGivenTap = "Object.entries(process.env).some(([name, value]) => name.startsWith('_TAPJS_')"
  + " || name === 'NODE_OPTIONS' && value.includes('tapjs'))"

t.test('no Node process that a test starts loads a part of tap', async (t) => {
  const { stdout } = spawnSync(process.execPath, ['-p', isGivenTap], { encoding: 'utf8' })
  t.equal(stdout, 'false\n', 'nor does this one')
  const script = `console.log((${isGivenTap} ? 'not ok' : 'ok') + ' 1 - it loads none')`
  const run = runWithTap(t, [
    `await t.spawn(process.execPath, ['-e', ${JSON.stringify(`${script}; console.log('1..1')`)}])`,
  ])
  t.equal(run.passed, 1, 'nor does what tap starts')
})

t.test('one program of each verb is counted in a process, whatever its flags', async (t) => {
  const seen = new Set<string>()
  const lines = ['goal add a', 'goal add b --json', 'goal list', 'doctor', 'doctor', 'goal list']
  t.strictSame(lines.map((line) => isFirstOfVerb(seen, line.split(' '))),
    [true, false, true, true, false, false])
})

t.test('a failure says where it lies in the source', async (t) => {
  const { inSources } = await loaded<{ inSources(text: string): string }>('positions.js')
  const file = join(root, '.build/tree/test/runner.test.js')
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes('const root = process.cwd()')) + 1
  const source = readFileSync(join(root, 'test/runner.test.ts'), 'utf8').split('\n')
  const wanted = source.indexOf('const root = process.cwd()') + 1
  const told = `test/runner.test.ts:${wanted}:1`
  t.equal(inSources(`at (${file}:${at}:1)`), `at (${told})`)
  t.equal(inSources(`at file://${file}:${at}:1 and`), `at ${told} and`)
  t.equal(inSources(`.build/tree/test/runner.test.js:${at}:1`), told)
  t.equal(inSources('.build/tree/test/none.test.js:1:1'), '.build/tree/test/none.test.js:1:1')
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
    problems: ['asserts nothing: test/b.test.ts'], failures: [],
  })
  t.equal(counted(stream('not ok')).failed, 1, 'a process that broke off is a failure')
})

interface Most {
  readonly files: number
  readonly seconds: number
}

interface Ordering {
  readonly limits: Readonly<Record<'short' | 'long', Most>>
  inProcesses(
    files: readonly string[], secondsOf: (source: string) => number, most?: Most,
  ): readonly (readonly string[])[]
}

t.test('only files that nothing of another could disturb share a process', async (t) => {
  const { inProcesses } = await loaded<Ordering>('order.js')
  const of = (name: string): string => join(root, '.build/tree/test', `${name}.test.js`)
  const apart = ['alpha/soak', 'images/hostile', 'shots/payload', 'state/lock'].map(of)
  const shared = ['base/canonical', 'base/errors', 'net/client', 'runner'].map(of)
  const [first, ...more] = inProcesses([...apart, ...shared], () => 1)
  t.strictSame(first, shared.slice(0, 2), 'two of one folder')
  t.strictSame(more, [...apart, ...shared.slice(2)].sort().map((one) => [one]))
})

const boardNames = [
  'admit', 'cancel', 'close', 'lease', 'long-work', 'model', 'move', 'recover', 'review',
  'states', 'verify-board', 'visible-tasks', '../policy', '../goals', '../trust',
]
const boardFiles = boardNames.map((name) =>
  join(root, '.build/tree/test/governance/board', `${name}.test.js`))

t.test('what takes longest begins first, and processes are given about the same', async (t) => {
  const { inProcesses } = await loaded<Ordering>('order.js')
  const [first, second, ...more] = inProcesses(boardFiles, () => 0.1)
  t.strictSame(more, [])
  t.strictSame([first?.length, second?.length], [8, 7], 'fourteen at most share a process')
  t.strictSame([...first ?? [], ...second ?? []].sort(), boardFiles.toSorted(), 'each runs once')
  const seconds = (source: string): number =>
    source.endsWith('/model.test.ts') ? 30 : source.endsWith('/trust.test.ts') ? 11 : 1
  const groups = inProcesses(boardFiles, seconds)
  const weights = groups.map((group) => group.map((path) =>
    seconds(path.replace('.js', '.ts'))).reduce((sum, one) => sum + one, 0))
  t.strictSame(weights, [30, 12, 12], 'the long one alone, the others even')
  t.strictSame(groups.flat().sort(), boardFiles.toSorted())
})

t.test('more files share a process of the long run, each of them once', async (t) => {
  const { inProcesses, limits } = await loaded<Ordering>('order.js')
  const countsOf = (seconds: number) =>
    inProcesses(boardFiles, () => seconds, limits.long).map(({ length }) => length)
  t.strictSame(countsOf(0.1), [15], 'all that a folder has')
  t.strictSame(countsOf(37), boardFiles.map(() => 1), 'what takes longer has its own')
  t.strictSame(inProcesses(boardFiles, () => 12, limits.long).flat().sort(), boardFiles.toSorted())
})

t.test('a process of tests is told nothing about V8 that its V8 does not know', async (t) => {
  const { quickStart } = await loaded<{
    quickStart(options?: string): readonly string[]
  }>('quick-start.js')
  t.strictSame(quickStart('  --min-semi-space-size (of a space)\n        type: size_t\n'),
    ['--min-semi-space-size=16'])
  t.strictSame(quickStart(''), [])
  const flags = quickStart()
  const { status, stdout } = spawnSync(process.execPath, [
    ...flags, '--print', 'JSON.stringify(process.execArgv)',
  ], { encoding: 'utf8' })
  t.equal(status, 0, 'Node starts')
  t.strictSame((JSON.parse(stdout) as readonly string[]).slice(0, flags.length), flags)
})

t.test('a file that was never measured counts as the average', async (t) => {
  const { expectedSeconds } = await loaded<{
    expectedSeconds(run: 'short' | 'all', known: object): (file: string) => number
  }>('seconds.js')
  const known = { 'test/a.test.ts': [1, 10], 'test/b.test.ts': [3, null] }
  const short = expectedSeconds('short', known)
  t.strictSame(['a', 'b', 'c'].map((name) => short(`test/${name}.test.ts`)), [1, 3, 2])
  const all = expectedSeconds('all', known)
  t.strictSame(['a', 'b', 'c'].map((name) => all(`test/${name}.test.ts`)), [10, 10, 10])
})

t.test('what a file costs is told with its children, once for each file', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-spent-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'seconds.jsonl')
  const busy = 'const end = Date.now() + 300; while (Date.now() < end) {}'
  const script = join(dir, 'busy.cjs')
  const spawning = "require('node:child_process').spawnSync(process.execPath, ['-e', "
  writeFileSync(script, `${spawning}'${busy}'])`)
  const { status } = spawnSync(process.execPath, ['--require', tool('note-spent.cjs'), script], {
    env: {
      ...process.env, SALLYPORT_TEST_SECONDS: path, SALLYPORT_TEST_FILE: 'test/a.test.ts',
    },
  })
  t.equal(status, 0)
  const { spentIn } = await loaded<{
    spentIn(path: string): ReadonlyMap<string, { readonly cpu: number }>
  }>('seconds.js')
  const [[file, { cpu }] = ['', { cpu: 0 }], ...more] = spentIn(path)
  t.strictSame([file, more], ['test/a.test.ts', []])
  t.ok(cpu > 0, 'a process has a cost')
  writeFileSync(path, ['3', '5', '4'].map((one) =>
    `{"file":"test/a.test.ts","cpu":${one},"wall":9}\n`).join(''))
  t.strictSame([...spentIn(path)], [['test/a.test.ts', { cpu: 5, wall: 9 }]])
  t.strictSame([...spentIn(join(dir, 'none'))], [])
})

interface Asked {
  readonly whole: boolean
  readonly short: boolean
  readonly changed: boolean
  readonly cell: string | null
  readonly seed: number | null
  readonly files: readonly string[]
  readonly since: string
  readonly seconds: number
}

t.test('a line says what is run, and a line that cannot be meant is refused', async (t) => {
  const { askedBy } = await loaded<{ askedBy(argv: readonly string[]): Asked }>('asked.js')
  const of = (...argv: string[]): readonly (boolean | string | number | null)[] => {
    const { whole, short, changed, cell, seed } = askedBy(argv)
    return [whole, short, changed, cell, seed]
  }
  t.strictSame(of(), [true, true, false, null, null], 'the whole of it, by slices')
  t.strictSame(of('--all'), [true, false, false, null, null])
  t.strictSame(of('a.test.ts'), [false, false, false, null, null], 'a file, every cell')
  t.strictSame(of('a.test.ts', '--short'), [false, true, false, null, null])
  t.strictSame(of('a.test.ts', '--cell', 'ask/a/b', '--seed', '7'),
    [false, false, false, 'ask/a/b', 7])
  t.strictSame(of('--changed'), [false, true, true, null, null])
  t.strictSame(of('--changed', '--all'), [false, false, true, null, null])
  t.equal(askedBy(['--since', 'HEAD~3']).since, 'HEAD~3')
  t.equal(askedBy(['--changed']).since, 'HEAD')
  t.strictSame([[], ['--seconds', '120']].map((argv) => askedBy(argv).seconds), [490, 120])
  const wrong = [
    ['--al'], ['--all', '--short'], ['--changed', 'a.test.ts'], ['--cell', 'a'],
    ['--cell', 'a', 'a.test.ts', 'b.test.ts'], ['--cell', 'a', 'a.test.ts', '--short'],
    ['--seed', '-1'], ['--seed', 'x'], ['--seed', String(2 ** 31)],
    ['--seconds', '0'], ['--seconds', 'x'], ['--seconds', '9', '--all'],
    ['--seconds', '9', '--changed'], ['--seconds', '9', 'a.test.ts'],
  ]
  for (const argv of wrong) {
    t.throws(() => askedBy(argv), new RegExp(argv[0] ?? 'no flag'), argv.join(' '))
  }
})

t.test('the seed is given, or that of the commit, and the same commit has the same', async (t) => {
  const { seedOfRun } = await loaded<{
    seedOfRun(given: number | null): { readonly seed: number, readonly from: string }
  }>('seed.js')
  t.strictSame(seedOfRun(7), { seed: 7, from: 'given' })
  const first = seedOfRun(null)
  t.strictSame(seedOfRun(null), first)
  t.match(first.from, /^of (commit [0-9a-f]{8}|package-lock\.json)$/)
  t.ok(Number.isInteger(first.seed) && first.seed >= 0 && first.seed < 2 ** 31)
})

interface Left {
  toldIn(path: string): { readonly ran: readonly object[] }
  leftLines(told: object, list: string): readonly string[]
  leftProblems(told: object): readonly string[]
  repeatLines(
    failures: readonly (readonly string[])[], ran: readonly object[], seed: number,
  ): readonly string[]
}

t.test('what a slice left is told by file and named, and a failed cell says its line', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-left-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const { toldIn, leftLines, leftProblems, repeatLines } = await loaded<Left>('left.js')
  const path = join(dir, 'cells.jsonl')
  const file = 'test/a.test.ts'
  const lines = [
    { file, table: 'ask', ran: ['ask/a', 'ask/a/b'], left: ['ask/c'] },
    { file: 'test/b.test.ts', table: 'whole', ran: ['whole/a'], left: [] },
    { file: 'test/c.test.ts', table: 'tests', ran: ["tests/nobody's title"], left: [] },
    { file: 'test/c.test.ts', table: 'own', ran: ['own/b'], left: [] },
    { file, loop: 'kills', rounds: 2, all: 9 },
    { files: ['test/d.test.ts'] },
  ]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const told = toldIn(path)
  t.strictSame(leftLines(told, join(dir, 'left.txt')), [
    'left to npm test -- --all:', '  test/a.test.ts: ask 2 of 3, kills 2 rounds of 9',
    '  1 files whole, 1 cells and rounds of 1 loops in 1 files, '
      + 'each by its name in .build/left.txt',
  ])
  t.equal(readFileSync(join(dir, 'left.txt'), 'utf8'),
    "test/d.test.ts\ntest/a.test.ts --cell 'ask/c'\ntest/a.test.ts kills: 2 of 9\n")
  t.strictSame(leftLines(toldIn(join(dir, 'none')), join(dir, 'no.txt')), [])
  t.strictSame(leftProblems(told), ['left out of ask'])
  const slow = join(dir, 'slow.jsonl')
  writeFileSync(slow, `${JSON.stringify(
    { file, table: 'ask', ran: ['ask/a'], left: ['ask/c'], toFile: true })}\n`)
  t.equal(leftLines(toldIn(slow), join(dir, 'slow.txt'))[0], 'left to npm test -- FILE:')
  t.strictSame(leftProblems(toldIn(slow)), [], 'what its file alone goes through may be left')
  t.strictSame(repeatLines([
    [file, 'a title', 'ask/a/b: it holds'], [file, 'ask/a', 'one'], [file, 'other'],
    ['test/b.test.ts', 'ask/a'], [file, 'other', 'again'], ['types: tsc'],
    ['test/c.test.ts', 'tests of this run', "nobody's title", 'one'],
    ['test/c.test.ts', 'tests of this run', "nobody's title", 'own/b: one'],
  ], told.ran, 5), [
    "repeat: npm test -- test/a.test.ts --cell 'ask/a/b' --seed 5",
    "repeat: npm test -- test/a.test.ts --cell 'ask/a' --seed 5",
    'repeat: npm test -- test/a.test.ts --seed 5', 'repeat: npm test -- test/b.test.ts --seed 5',
    "repeat: npm test -- test/c.test.ts --cell 'tests/nobody'\\''s title' --seed 5",
    "repeat: npm test -- test/c.test.ts --cell 'own/b' --seed 5",
  ])
})

t.test('in a whole short run each requirement has one file that proves it, the one that proves most in least time', async (t) => {
  const { ownersOf } = await loaded<{
    ownersOf(
      files: readonly { file: string, text: string }[], secondsOf: (file: string) => number,
    ): Readonly<Record<string, readonly string[]>>
  }>('owned-rows.js')
  const sliced = 'import { t } from "../support/tests-in-slices.js"\n'
  const files = [
    { file: 'whole', text: 't.test("A-001 one", () => { "A-009 no title" })' },
    { file: 'slow', text: `${sliced}t.test("A-001 A-002 A-003", () => t.test(\`A-004 \${x}\`))` },
    { file: 'quick', text: `${sliced}t.test("A-002", f); t.test("A-003", f)` },
    { file: 'needless', text: `${sliced}t.test("A-001", f)` },
    { file: 'list', text: `${sliced}const rows = ["A-005"]; t.test(title, f)` },
  ]
  t.strictSame(ownersOf(files, (file) => (file === 'slow' ? 9 : 1)), {
    quick: ['A-002', 'A-003'], slow: ['A-004'], list: ['A-005'],
  })
  t.strictSame(ownersOf(files, () => 1), {
    slow: ['A-002', 'A-003', 'A-004'], list: ['A-005'],
  })
})

interface ShortRun {
  shortRun(files: readonly { file: string, text: string }[], by: object):
    { readonly first: readonly string[], readonly others: readonly string[] }
  fitting(others: readonly string[], now: object): readonly string[]
}

t.test('a short run proves every requirement and looks at the project, then comes what a change reaches, then the rest by the seed', async (t) => {
  const { shortRun } = await loaded<ShortRun>('short-run.js')
  const files = [
    { file: 'test/a/proves.test.ts', text: 't.test("A-001 A-002", f)' },
    { file: 'test/a/less.test.ts', text: 't.test("A-001", f)' },
    { file: 'test/a/list.test.ts', text: 'const rows = ["A-005"]; t.test(title, f)' },
    { file: 'test/style.test.ts', text: 't.test("lines", f)' },
    ...Array.from({ length: 20 }, (_, at) =>
      ({ file: `test/b/other-${at}.test.ts`, text: 't.test("other", f)' })),
  ]
  const names = files.map(({ file }) => file)
  const run = (more: object) => shortRun(files, { secondsOf: () => 10, seed: 1, ...more })
  const { first, others } = run({})
  t.strictSame(first, ['test/a/proves.test.ts', 'test/a/list.test.ts', 'test/style.test.ts'])
  t.strictSame([...first, ...others].sort(), [...names].sort(), 'none is gone')
  t.strictSame(run({}), { first, others }, 'the same seed, the same order')
  t.strictNotSame(run({ seed: 2 }).others, others, 'another seed, another order')
  const reached = ['test/b/other-7.test.ts', 'test/a/less.test.ts', 'test/style.test.ts']
  t.strictSame(run({ reached }).others.slice(0, 2), reached.slice(0, 2))
})

t.test('a short run takes as many others as its seconds allow at the pace of what has ended', async (t) => {
  const { fitting } = await loaded<ShortRun>('short-run.js')
  const others = ['test/a.test.ts', 'test/big.test.ts', 'test/b.test.ts', 'test/c.test.ts']
  const secondsOf = (file: string): number => (file.includes('big') ? 100 : 10)
  const fit = (seconds: number, took: number, running: readonly string[] = []) => fitting(others, {
    seconds, running, secondsOf,
    spent: new Map([['types: tsc', { cpu: 50 }], ['test/ended.test.ts', { cpu: took }]]),
  })
  t.strictSame(fit(60, 10), [], 'what was taken counts, checks with it')
  t.strictSame(fit(60 + 25, 10), ['test/a.test.ts', 'test/b.test.ts'], 'what is too long is passed')
  t.strictSame(fit(60 + 130, 10), others)
  t.strictSame(fit(70 + 25, 20), ['test/a.test.ts'], 'a slow machine takes fewer')
  t.strictSame(fit(60 + 25, 10, ['test/going.test.ts']), ['test/a.test.ts'],
    'what still runs will take its time')
  t.strictSame(fitting(others, { seconds: 20, running: [], spent: new Map(), secondsOf }),
    ['test/a.test.ts', 'test/b.test.ts'])
})

interface Import {
  readonly specifier: string
  readonly to: string | null
  readonly dynamic: boolean
  readonly typeOnly: boolean
}

t.test('imports are read with their kind, and lead to files', async (t) => {
  const { importsIn } = await loaded<{
    importsIn(from: string, text: string): readonly Import[]
  }>('imports.js')
  const text = [
    "import t from 'tap'", "import type { A } from './must.js'",
    'import {', '  type B,', "} from './marks.js'", "export type { C } from './until.js'",
    "export * from '../world/world.js'", "const load = () => import('./clock.js')",
    "import { x } from './nowhere.js'",
  ].join('\n')
  const of = (to: string | null, kind = ''): object =>
    ({ to, dynamic: kind === 'dynamic', typeOnly: kind === 'type' })
  t.strictSame(importsIn('test/support/one.ts', text).map(({ specifier: _, ...rest }) => rest), [
    of(null), of('test/support/must.ts', 'type'), of('test/support/marks.ts'),
    of('test/support/until.ts', 'type'), of('test/world/world.ts'),
    of('test/support/clock.ts', 'dynamic'), of(null),
  ])
})

t.test('a change reaches what imports it on any way, spawns it or names its verb', async (t) => {
  const { reachedBy } = await loaded<{
    reachedBy(
      changed: readonly string[], graph: ReadonlyMap<string, readonly object[]>,
      read: (path: string) => string,
    ): readonly string[]
  }>('reach.js')
  const edge = (to: string, kind = ''): object =>
    ({ specifier: to, to, dynamic: kind === 'dynamic', typeOnly: kind === 'type' })
  const graph = new Map<string, readonly object[]>([
    ['src/a/deep.ts', []], ['src/a/a.ts', [edge('src/a/deep.ts')]],
    ['src/cli/start.ts', [edge('src/cli/commands/shots/scan.ts', 'dynamic')]],
    ['src/cli/commands/shots/scan.ts', [edge('src/a/deep.ts')]],
    ['test/b/far.test.ts', [edge('src/a/a.ts')]], ['test/a/near.test.ts', [edge('src/a/deep.ts')]],
    ['test/b/near.test.ts', [edge('src/a/deep.ts')]],
    ['test/b/types.test.ts', [edge('src/a/deep.ts', 'type')]],
    ['test/world.ts', []], ['test/b/spawning.test.ts', [edge('test/world.ts')]],
    ['test/b/silent.test.ts', [edge('test/world.ts')]],
  ])
  const texts: Readonly<Record<string, string>> = {
    'test/world.ts': "env['SALLYPORT_TEST_APP']", 'test/b/spawning.test.ts': "['shots', 'scan']",
    'test/b/silent.test.ts': "page('kept.md')",
  }
  const reached = (...paths: string[]): readonly string[] =>
    reachedBy(paths, graph, (path) => texts[path] ?? '')
  t.strictSame(reached('src/a/deep.ts'), [
    'test/a/near.test.ts', 'test/b/near.test.ts', 'test/b/far.test.ts', 'test/b/spawning.test.ts',
  ], 'the nearest first')
  t.strictSame(reached('test/b/silent.test.ts'), ['test/b/silent.test.ts'], 'a test reaches itself')
  t.strictSame(reached('docs/kept.md'), ['test/b/silent.test.ts'], 'a page, what names it')
  t.strictSame(reached('docs/ept.md'), [], 'no part of another name')
})

t.test('a file that changes the process, however it is written, shares it with no other', async (t) => {
  const { inProcesses: packed } = await loaded<Ordering>('order.js')
  const inProcesses = (files: readonly string[]) => packed(files, () => 1)
  const folder = t.testdir()
  const other = join(folder, 'other.js')
  writeFileSync(other, 'const { env } = process\nuse(Object.entries(process.env), process.cwd())\n')
  for (const [at, text] of [
    'process.on("exit", act)', 'process.addListener("exit", act)', 'process.removeAllListeners()',
    'Object.assign(process.env, { A: "1" })', 'Object.assign(process, {})', 'process.env.A = "1"',
    'process.env.A ??= "1"', 'process.env["A"] = "1"', 'delete process.env.A',
    'Reflect.set(process.env, "A", "1")', 'process.exitCode = 1', 'process.title = "a"',
    'Object.defineProperty(process, "platform", { value: "a" })', 'times.leaseMs = 3_000',
  ].entries()) {
    const file = join(folder, `${at}.js`)
    writeFileSync(file, text)
    t.strictSame(inProcesses([file, other]), [[file], [other]], text)
  }
  const both = [other, join(folder, 'twin.js')]
  writeFileSync(both[1] ?? '', 'export const a = 1\n')
  t.strictSame(inProcesses(both), [both])
})

t.test('a file that leaves a shared process otherwise than it found it fails', (t) => {
  const folder = t.testdir()
  const tap = pathToFileURL(join(root, '.build/tree/node_modules/tap/index.js')).href
  const run = (...acts: readonly string[]) => {
    const files = acts.map((act, at) => {
      const path = join(folder, `file-${at}.mjs`)
      writeFileSync(path, `import t from '${tap}'
        t.test('a', (t) => { ${act}; t.ok(1); t.end() })`)
      return path
    })
    const { status, stdout } = spawnSync(process.execPath, [tool('together.js')], {
      encoding: 'utf8', env: { ...process.env, SALLYPORT_TESTS_TOGETHER: files.join(delimiter) },
    })
    return [status, ...[...stdout.matchAll(/^not ok \d+ - .*(changes the .*)$/gm)]
      .map(([, told]) => told?.trim())]
  }
  t.strictSame(run('void process.env', 'void 0'), [0])
  t.strictSame(run('process.env.LEFT = "1"', 'void 0'),
    [1, 'changes the process that it shares (env LEFT)'])
  t.strictSame(run('process.addListener("SIGHUP", () => {})'),
    [1, 'changes the process that it shares (on SIGHUP)'])
  t.end()
})

t.test('a file and a test without an assertion are failures, cited rows or none', async (t) => {
  const nothing = counted('TAP version 14\n# Subtest: test/a.test.ts\n    1..0\n'
    + 'ok 1 - test/a.test.ts\n1..1\n')
  t.strictSame(nothing.problems, ['asserts nothing: test/a.test.ts'])
  const one = counted('TAP version 14\n# Subtest: test/a.test.ts\n    1..0\n'
    + 'ok 1 - test/a.test.ts\n1..1\n', { part: true })
  t.strictSame(one.problems, [], 'a run of one cell has nothing to assert elsewhere')
  for (const title of ['A-001 it holds', 'it holds']) {
    const empty = counted(file(title, []))
    t.strictSame(empty.cited, [])
    t.ok(empty.problems.includes(`asserts nothing: test/a.test.ts > ${title}`), title)
  }
})

t.test('a skip or todo fails, unless for what the runner finds that the machine lacks', async (t) => {
  const skipped = (directive: string, lacking = ['needs /proc']): readonly string[] =>
    counted(file('it holds', ['ok 1 - one', `ok 2 - two # ${directive}`]), { lacking }).problems
  t.strictSame(skipped('SKIP needs /proc'), [])
  const all = counted(
    file('it holds', ['ok 1 - one # SKIP needs /proc']), { lacking: ['needs /proc'] })
  t.strictSame([all.problems, all.skipped], [[], 1], 'there was nothing to assert')
  t.equal(skipped('SKIP needs /proc', []).length, 1, 'it is there')
  for (const directive of ['SKIP', 'SKIP later', 'TODO', 'TODO needs /proc']) {
    t.equal(skipped(directive).length, 1, directive)
  }
  const { lacks } = (await import(tool('lacking.js'))) as { lacks(reason: string): boolean }
  t.strictSame([lacks('needs /proc'), lacks('later')], [!existsSync('/proc/locks'), false])
})

t.test('each reason for which a test leaves itself out is one that the runner looks into', async (t) => {
  const { reasons } = await loaded<{ readonly reasons: readonly string[] }>('lacking.js')
  const { filesBelow } = await loaded<{ filesBelow(dir: string): readonly string[] }>('files.js')
  const told = filesBelow(join(root, 'test')).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\? false\s*: (['`])(.+?)\1/g)]
      .map(([, , reason = '']) => reason))
  t.ok(told.length > 10, `${told.length} places`)
  const isKnown = (reason: string): boolean => {
    const [begin = '', end] = reason.split(/\$\{\w+\}/)
    return reasons.some((one) =>
      (end === undefined ? one === begin : one.startsWith(begin) && one.endsWith(end)))
  }
  t.strictSame(told.filter((one) => !isKnown(one)), [])
  t.notOk(isKnown('needs a Mac'))
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
