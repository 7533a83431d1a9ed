/** What `npm run mutate` breaks fits the source as it is; running all of it takes hours. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { join } from 'node:path'
import t from 'tap'

interface Entry {
  readonly area: string, readonly at: number, readonly file: string, readonly promise: string
}

interface Entries {
  namedMutations(root: string, areas?: readonly string[]): readonly Entry[]
  equivalents(root: string): readonly { readonly file: string, readonly reason: string }[]
  problemOf(root: string, entry: object): string | null
  excuseOf(list: readonly object[], entry: object): object | undefined
}

interface Rule { readonly file: string, readonly tests: readonly string[] }

interface Rules {
  ruleList(root: string): {
    readonly rules: readonly Rule[]
    readonly equivalent: readonly { readonly file: string }[]
  }
  ruleProblem(root: string, rule: Rule): string | null
  excuseProblem(compiled: string | null, excuse: object): string | null
}

const root = process.cwd()
const tool = join(root, 'scripts/tool/mutate/entries.js')
const { namedMutations, equivalents, problemOf, excuseOf } = (await import(tool)) as Entries
const { ruleList, ruleProblem, excuseProblem } =
  (await import(join(root, 'scripts/tool/mutate/rule-list.js'))) as Rules

t.test('every named mutation changes one place of a source and names tests that exist', async (t) => {
  const entries = namedMutations(root)
  t.ok(entries.length > 40, 'they were read')
  const problems = entries.flatMap((entry) => {
    const problem = problemOf(root, entry)
    return problem === null ? [] : [`${entry.area} ${entry.at}: ${problem}`]
  })
  t.strictSame(problems, [])
  t.strictSame(namedMutations(root, ['codehost:2']).map(({ area, at }) => [area, at]),
    [['codehost', 2]], 'one can be asked for')
})

t.test('as on a Mac a mutation is tried by those of its tests first that are run so, and left out where there are none', async (t) => {
  const { triedOnMac, darwinSuites } = (await import(join(root, 'scripts/tool/darwin.js'))) as {
    readonly darwinSuites: readonly string[]
    triedOnMac(entries: readonly object[]): readonly object[]
  }
  const [suite, other] = ['test/state/lock.test.ts', 'test/mutations.test.ts']
  t.strictSame(triedOnMac([{ at: 1, tests: [other, suite] }, { at: 2, tests: [other] }]),
    [{ at: 1, tests: [suite, other] }])
  for (const name of darwinSuites) t.ok(existsSync(join(root, `test/${name}.test.ts`)), name)
})

t.test('an entry that fits nowhere, or fits twice, is told', async (t) => {
  const entry = {
    file: 'package.json', old: '"name": "sallyport"', new: '"name": "other"',
    promise: 'A promise.', tests: ['test/mutations.test.ts'],
  }
  t.equal(problemOf(root, entry), null)
  const wrong = [
    { old: '"name": "nothing"' }, { old: '"' }, { old: '' }, { new: entry.old }, { promise: '' },
    { tests: [] }, { tests: ['test/absent.test.ts'] }, { tests: ['test/entry.ts'] },
    { file: 'src/base/ids.ts', old: 'export const newId', new: 'export const' },
    { file: 'absent.json' },
  ]
  for (const one of wrong) t.type(problemOf(root, { ...entry, ...one }), 'string')
})

t.test('an entry is found where code was moved or broken into other lines, and nowhere twice', async (t) => {
  const dir = t.testdir()
  mkdirSync(join(dir, 'src'))
  mkdirSync(join(dir, 'test'))
  writeFileSync(join(dir, 'test/one.test.ts'), '')
  const entry = {
    file: 'src/one.ts', in: 'guard', old: 'if (a > limit) throw refused(a)', new: '',
    promise: 'A promise.', tests: ['test/one.test.ts'],
  }
  const body = (name: string) =>
    `export const ${name} = (a) => {\n  if (\n    a > limit\n  ) throw refused(a)\n}\n`
  const write = (file: string, text: string) => writeFileSync(join(dir, 'src', file), text)
  write('one.ts', body('other'))
  t.equal(problemOf(dir, entry), 'the old text occurs 0 times in guard of src/one.ts')
  write('one.ts', `${body('other')}${body('guard')}`)
  t.equal(problemOf(dir, entry), null, 'the same text of another function is not meant')
  write('one.ts', body('other'))
  write('two.ts', body('guard'))
  t.equal(problemOf(dir, entry), null, 'it was moved')
  write('three.ts', body('guard'))
  t.equal(problemOf(dir, entry), 'the old text occurs 2 times in guard of src/one.ts')
})

t.test('whatever is excused from being noticed is a named mutation, and says why', async (t) => {
  const entries = namedMutations(root)
  for (const one of equivalents(root)) {
    t.ok(one.reason.length > 20, one.file)
    t.ok(entries.some((entry) => excuseOf([one], entry) === one), one.file)
  }
})

t.test('every rule file that is broken expression by expression is there, with its tests', async (t) => {
  const { rules } = ruleList(root)
  t.ok(rules.length >= 10, `${rules.length} files`)
  for (const rule of rules) t.equal(ruleProblem(root, rule), null)
  t.type(ruleProblem(root, { file: 'src/absent.ts', tests: ['test/mutations.test.ts'] }), 'string')
  t.type(ruleProblem(root, { file: 'package.json', tests: [] }), 'string')
})

t.test('what no test of a rule file can see still stands in it, and says why', async (t) => {
  const { rules, equivalent } = ruleList(root)
  const texts = new Map(rules.map(({ file }) => [
    file, readFileSync(join(root, '.build/tree', file.replace(/\.ts$/, '.js')), 'utf8'),
  ]))
  for (const one of equivalent) t.equal(excuseProblem(texts.get(one.file) ?? null, one), null)
  const entry = { file: 'a', line: 'let a = 1', old: '1', new: '2', reason: 'a'.repeat(30) }
  t.equal(excuseProblem('  let a = 1\n', entry), null)
  t.type(excuseProblem('let b = 1', entry), 'string')
  t.type(excuseProblem('let a = 1', { ...entry, old: '2' }), 'string')
  t.type(excuseProblem('let a = 1', { ...entry, reason: 'so' }), 'string')
  t.type(excuseProblem(null, entry), 'string')
})

interface Guard {
  readonly key: string
  readonly file: string
  readonly in: string | null
  readonly kind: string
  readonly guard: string
  readonly from: number
  readonly to: number
  readonly text: string
}

const { findGuards } = (await import(join(root, 'scripts/tool/mutate/guards.js'))) as {
  findGuards(root: string): readonly Guard[]
}
const { listedGuards, guardExcuse } = (
  await import(join(root, 'scripts/tool/mutate/guard-list.js'))) as {
  listedGuards(root: string): readonly { readonly guard: string, readonly reason: string }[]
  guardExcuse(list: readonly object[], guard: object): object | undefined
}

t.test('every guard that is listed as one that no test can miss stands in its function, and says why', async (t) => {
  const guards = findGuards(root)
  t.ok(guards.length > 500, `${guards.length} guards`)
  t.equal(new Set(guards.map(({ key }) => key)).size, guards.length, 'each has a name of its own')
  for (const one of listedGuards(root)) {
    t.ok(one.reason.length > 20, one.guard)
    t.ok(guards.some((guard) => guardExcuse([one], guard) !== undefined), one.guard)
  }
})

interface Killers {
  readonly killed: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  readonly open: readonly string[]
}

t.test('of every guard it is known which test fails without it, or why none can', async (t) => {
  const { killerProblems, knownKillers } = (
    await import(join(root, 'scripts/tool/mutate/killers.js'))) as {
    killerProblems(
      root: string, guards: readonly object[], excused: readonly object[], kept?: Killers,
    ): readonly string[]
    knownKillers(kept: Killers): (key: string) => { readonly test: string } | undefined
  }
  t.strictSame(killerProblems(root, findGuards(root), listedGuards(root)), [])

  const guard = (file: string, name: string): object =>
    ({ key: `${file} one: ${name}`, file, in: 'one', guard: name })
  const [a, b, c] = [guard('src/a.ts', 'requireA()'), guard('src/b.ts', 'requireB()'),
    guard('src/c.ts', 'requireC()')]
  const test = 'test/mutations.test.ts'
  const title = 'an entry that fits nowhere, or fits twice, is told'
  const kept = {
    killed: { [test]: { [title]: ['src/moved.ts one: requireA()'] } },
    open: ['src/b.ts one: requireB()'],
  }
  t.equal(knownKillers(kept)('src/a.ts one: requireA()')?.test, test, 'it was moved')
  t.strictSame(killerProblems(root, [a, b], [], kept), [])
  const twin = killerProblems(root, [a, guard('src/moved.ts', 'requireA()')], [], kept)
  t.match(twin.join(), /: src\/a\.ts one: requireA\(\)$/, 'another one has its words')
  const reason = { file: 'src/c.ts', in: 'one', guard: 'requireC()', reason: 'asked again' }
  t.strictSame(killerProblems(root, [a, b, c], [reason], kept), [])
  const [told, ...others] = killerProblems(root, [a, b, c], [], kept)
  t.match(told, /nothing is known to notice .* src\/c\.ts --write\): src\/c\.ts one: requireC\(\)/)
  t.strictSame(others, [])
  t.strictSame(killerProblems(root, [b], [], kept), ['no such guard: src/moved.ts one: requireA()'])
  const absent = { 'test/absent.test.ts': { '': ['src/a.ts one: requireA()'] } }
  t.strictSame(killerProblems(root, [a], [], { open: [], killed: absent }),
    ['no such test: test/absent.test.ts'])
})

t.test('of a named mutation it is kept which test failed, and a row that this test cites names it', async (t) => {
  type ByTest = Killers['killed']
  const { namedProblems, writeNamed } = (
    await import(join(root, 'scripts/tool/mutate/killers.js'))) as {
    namedProblems(
      root: string, entries: readonly object[], kept?: { readonly named: ByTest },
    ): readonly string[]
    writeNamed(root: string, entries: readonly object[], found: ReadonlyMap<string, object>): void
  }
  t.strictSame(namedProblems(root, namedMutations(root)), [])
  const dir = t.testdir({ scripts: { tool: { mutate: {
    'killers.json': JSON.stringify({ killed: {}, open: ['a guard'], named: {
      'test/a.test.ts': { old: ['money: kept', 'money: gone'] },
    } }),
  } } } })
  const entry = (promise: string): object => ({ area: 'money', promise })
  const title = 'A-001 S-002 it fails'
  writeNamed(dir, ['kept', 'new', 'unseen'].map(entry),
    new Map([['money: new', { test: 'test/a.test.ts', title }]]))
  const written = JSON.parse(
    readFileSync(join(dir, 'scripts/tool/mutate/killers.json'), 'utf8')) as Killers
  const named = { 'test/a.test.ts': { [title]: ['money: new'], old: ['money: kept'] } }
  t.strictSame(written, { killed: {}, named, open: ['a guard'] })
  t.strictSame(namedProblems(dir, [entry('new')], { named }),
    ['no such test: test/a.test.ts', 'no such named mutation: money: kept'])

  const { mutationsByRow } = (await import(join(root, 'scripts/tool/requirements.js'))) as {
    mutationsByRow(kept: { killed: ByTest, named: ByTest }): ReadonlyMap<string, readonly string[]>
  }
  const killed = { 'test/b.test.ts': { 'A-001 alone': ['src/a.ts one: requireA()'] } }
  t.strictSame([...mutationsByRow({ killed, named })], [
    ['A-001', ['src/a.ts one: requireA()', 'money: new']], ['S-002', ['money: new']],
  ])
})

t.test('guards are statements that only ask or only make durable, and the conditions of a judge', async (t) => {
  const dir = t.testdir()
  mkdirSync(join(dir, 'src/sandbox'), { recursive: true })
  const lines = [
    'export const one = (tx, job) => {', '  requireOpen(job)', '  const kept = requireKept(job)',
    '  if (kept) tx.mark()', '  requireOpen(job)', '  requirement(job)', '}', 'class Log {',
    '  async end() {', '    await this.#requireStanding()', '    syncDir(this.files, dir)',
    '    return verify(this)', '  }', '}',
    'const facts = [{ name: \'a\', holds: (one) => one.is }]',
  ]
  writeFileSync(join(dir, 'src/one.ts'), lines.join('\n'))
  writeFileSync(join(dir, 'src/sandbox/two.ts'), 'requireOpen(1)')
  t.strictSame(findGuards(dir).map(({ key, kind, text }) => [key, kind, text]), [
    ['src/one.ts one: requireOpen(job)', 'asks', ''], ['src/one.ts one: tx.mark()', 'keeps', ''],
    ['src/one.ts one: requireOpen(job) (2)', 'asks', ''],
    ['src/one.ts Log.end: await this.#requireStanding()', 'asks', ''],
    ['src/one.ts Log.end: syncDir(this.files, dir)', 'keeps', ''],
    ['src/one.ts facts: one.is', 'fact', 'true'],
  ])
})

t.test('a source with many changes behind switches runs as it stood, and with each of them alone', async (t) => {
  const { weave } = (await import(join(root, 'scripts/tool/mutate/switches.js'))) as {
    weave(name: string, text: string, changes: readonly object[], module: string): {
      readonly text: string, readonly outside: readonly number[]
    }
  }
  const source = `import { a } from './a.js'
const limit: number = 3
export const over = (n: number) => n > limit
export class Sum {
  readonly step = 1 + 0
  readonly from: number
  constructor(from: number) {
    this.from = from
  }
  next(list: number[]): number {
    let sum = this.from
    for (const one of list) {
      if (one < 0) throw new Error('negative')
      log.push(one)
      ;[sum] = [sum + one * this.step]
    }
    return sum
  }
}
export const facts = [{ holds: (n: number) => n > 1 }]
`
  const changes = [
    ['limit: number = 3', 'limit: number = 4', {}], ['n > limit', 'n >= limit', {}],
    ['1 + 0', '2', {}],
    ['if (one < 0) throw new Error(\'negative\')', '', {}],
    ['log.push(one)', '', { whole: true }], ['sum + one', 'sum - one', {}],
    ['n > 1', 'true', { whole: true }], ['./a.js', './b.js', {}],
    ['this.from = from', 'this.from = 2 * from', {}],
  ] as const
  const { text, outside } = weave('one.ts', source, changes.map(([old, changed, more], id) => {
    const from = source.indexOf(old)
    return { id, from, to: from + old.length, text: changed, ...more }
  }), './switch.js')
  t.strictSame(outside, [7], 'what a file is made of is no part that could be asked')
  const { code } = transformSync(text, { loader: 'ts', format: 'cjs' })
  const told = (broken: number): unknown => {
    const log: number[] = []
    const module = { exports: {} as Record<string, unknown> }
    const require = (name: string) =>
      (name === './switch.js' ? { $broken: (id: number) => id === broken } : {})
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    new Function('module', 'exports', 'require', 'log', code)(
      module, module.exports, require, log)
    const { over, Sum, facts } = module.exports as {
      over(n: number): boolean
      Sum: new (from: number) => { next(list: readonly number[]): number }
      facts: readonly { holds(n: number): boolean }[]
    }
    const next = (list: readonly number[]): unknown => {
      try {
        return new Sum(10).next(list)
      } catch (error) {
        return (error as Error).message
      }
    }
    return [over(3), over(4), next([1, 2]), next([-1]), log.length, facts[0]?.holds(0)]
  }
  const sound = [false, true, 13, 'negative', 2, false]
  t.strictSame(told(-1), sound)
  const broken: Readonly<Record<number, readonly unknown[]>> = {
    0: [false, false, 13, 'negative', 2, false], 1: [true, true, 13, 'negative', 2, false],
    2: [false, true, 16, 'negative', 2, false], 3: [false, true, 13, 9, 3, false],
    4: [false, true, 13, 'negative', 0, false], 5: [false, true, 7, 'negative', 2, false],
    6: [false, true, 13, 'negative', 2, true], 8: [false, true, 23, 'negative', 2, false],
  }
  for (const [id, wanted] of Object.entries(broken)) t.strictSame(told(Number(id)), wanted, id)
})

t.test('a switch is told where a guard that stands refuses, and changes nothing that it does', async (t) => {
  const { weave } = (await import(join(root, 'scripts/tool/mutate/switches.js'))) as {
    weave(name: string, text: string, changes: readonly object[], module: string): {
      readonly text: string
    }
  }
  const source = `export const one = (n) => {
  requireSmall(n)
  return n
}
export const fact = { holds: (n) => n < 3 }
`
  const changes = [['requireSmall(n)', ''], ['n < 3', 'true']].map(([old = '', text], id) => {
    const from = source.indexOf(old)
    return { id, from, to: from + old.length, text, whole: true, told: true }
  })
  const { code } = transformSync(
    weave('one.ts', source, changes, './switch.js').text, { loader: 'ts', format: 'cjs' })
  const refusals: number[] = []
  const $broken = Object.assign(() => false, {
    refused: (id: number) => refusals.push(id),
    judged: (id: number, value: unknown) => {
      if (value === false) refusals.push(id)
      return value
    },
  })
  const module = { exports: {} as Record<string, unknown> }
  const requireSmall = (n: number): void => {
    if (n > 3) throw new Error('too large')
  }
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  new Function('module', 'require', 'requireSmall', code)(
    module, () => ({ $broken }), requireSmall)
  const { one, fact } = module.exports as {
    one(n: number): number
    fact: { holds(n: number): boolean }
  }
  t.strictSame([one(1), fact.holds(1), refusals], [1, true, []])
  t.throws(() => one(4), { message: 'too large' })
  t.strictSame([fact.holds(4), refusals], [false, [0, 1]])
})

t.test('what was found out about a guard holds while its source and the test are as they were', async (t) => {
  const { GuardBook } = (await import(join(root, 'scripts/tool/mutate/guard-book.js'))) as {
    GuardBook: new (path: string, textOf: (file: string) => string, options?: object) => {
      partsBy(test: string, key: string): readonly object[] | undefined
      killer(guard: object): { readonly test: string } | undefined
      passed(guard: object, test: string, title: string): boolean
      noteUnbroken(test: string, keys: readonly string[], how: object): void
      noteAlone(test: string, title: string, alone: boolean): void
      noteKilled(guard: object, test: string, title: string, why: string): void
      notePassed(guard: object, test: string, title: string): void
    }
  }
  const path = join(t.testdir(), 'book.json')
  const texts: Record<string, string> = { one: '1', two: '2' }
  const book = (options = {}) => new GuardBook(path, (file) => {
    const text = texts[file]
    if (text === undefined) throw new Error('no such file')
    return text
  }, options)
  const guard = { key: 'a', hash: 'h' }
  const before = book()
  before.noteUnbroken('one', ['a', 'b', 'c'], { ok: true, ms: 5, titles: [
    { title: 'first', ms: 2, reached: [0], refused: [0] },
    { title: '', ms: 5, reached: [1], refused: [] },
  ] })
  before.notePassed(guard, 'one', 'first')
  before.noteKilled({ key: 'b', hash: 'h' }, 'two', '', 'why')
  t.strictSame(['a', 'b', 'c', 'd'].map((key) => book().partsBy('one', key)), [
    [{ title: 'first', ms: 2, refused: true }], [{ title: '', ms: 5, refused: false }], [],
    undefined,
  ])
  t.strictSame(['first', 'other'].map((title) => book().passed(guard, 'one', title)), [true, false])
  t.equal(book().killer({ key: 'b', hash: 'h' })?.test, 'two')
  t.equal(book().killer({ key: 'b', hash: 'other' }), undefined, 'its source changed')
  t.equal(book().passed({ ...guard, hash: 'other' }, 'one', 'first'), false)
  t.equal(book({ fresh: true }).killer({ key: 'b', hash: 'h' }), undefined)
  before.noteAlone('one', 'first', false)
  t.strictSame(
    book().partsBy('one', 'a'), [{ title: '', ms: 5, refused: true }], 'it needs the others')
  texts['one'] = 'changed'
  t.strictSame([book().partsBy('one', 'a'), book().passed(guard, 'one', 'first')],
    [undefined, false])
  delete texts['two']
  t.equal(book().killer({ key: 'b', hash: 'h' }), undefined, 'the test is gone')
})
