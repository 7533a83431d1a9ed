/** What `npm run mutate` breaks fits the source as it is; running all of it takes hours. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

interface Entry { readonly area: string, readonly at: number, readonly file: string }

interface Entries {
  namedMutations(root: string): readonly Entry[]
  equivalents(root: string): readonly { readonly file: string, readonly reason: string }[]
  problemOf(root: string, entry: object): string | null
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
const { namedMutations, equivalents, problemOf } = (await import(tool)) as Entries
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
    { file: 'absent.json' },
  ]
  for (const one of wrong) t.type(problemOf(root, { ...entry, ...one }), 'string')
})

t.test('whatever is excused from being noticed says why', async (t) => {
  for (const { file, reason } of equivalents(root)) t.ok(reason.length > 20, file)
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
