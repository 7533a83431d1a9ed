/** The named mutations of `npm run mutate` fit the source as it is; running them takes hours. */
import { join } from 'node:path'
import t from 'tap'

interface Entry { readonly area: string, readonly at: number, readonly file: string }

interface Entries {
  namedMutations(root: string): readonly Entry[]
  equivalents(root: string): readonly { readonly file: string, readonly reason: string }[]
  problemOf(root: string, entry: object): string | null
}

const root = process.cwd()
const tool = join(root, 'scripts/tool/mutate/entries.js')
const { namedMutations, equivalents, problemOf } = (await import(tool)) as Entries

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
