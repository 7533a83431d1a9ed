/**
 * The tests of a file that takes long, as a table of their own: a file that has this `t` in the
 * place of tap's goes through a slice of its tests in the short run. Each requirement that the file
 * proves is proved by one of them at least (in a run of all files: each that no other file proves,
 * by scripts/tool/owned-rows.js), a test with a table is run with a slice of that, and a quarter of
 * all is run; which of the others is chance.
 * `npm test -- --all`, and a file that is asked for by its name, go through all of them, and
 * `npm test -- FILE --cell tests/TITLE` through one.
 *
 * No test of such a file may need another one.
 */
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import tap, { type Test } from 'tap'
import { chanceOf } from './chance.js'
import { coverOf, ofTest, tell, thisRun, type Run } from './slice.js'

/** What `t.test` was given, by its title. */
export interface Given {
  readonly title: string
  readonly more: readonly unknown[]
}

/** One test of so many is run at least. */
const share = 4

/** Rows that this file has to prove in a run of all files; null in any other run, for all rows. */
const ownRows = (file: string): ReadonlySet<string> | null => {
  const path = process.env['SALLYPORT_TEST_OWNERS']
  if (path === undefined) return null
  const owners = JSON.parse(readFileSync(path, 'utf8')) as Record<string, readonly string[]>
  return new Set(owners[file] ?? [])
}

/**
 * What a test is the only one to prove, maybe: rows that its own title cites, or those of the tests
 * within it, and a table of its own, of which a slice is gone through.
 */
const promisesOf = (
  { title, more }: Given, own: ReadonlySet<string> | null,
): readonly string[] => {
  const text = more.map(String).join(' ')
  const within = [...text.matchAll(/\btest\(\s*(["'`])(.*?)\1/gs)].map(([, , one = '']) => one)
  const rows = ([title, ...within].join(' ').match(/\b[ACS]-\d{3}\b|\bdurability \d+/g) ?? [])
    .filter((row) => own?.has(row) !== false || row.startsWith('durability'))
  return /(?<!\.)\b(?:slice|rounds)\(/.test(text) ? [...rows, title] : rows
}

/**
 * Titles of the tests that a run goes through, in their order: all of them where its cell is one of
 * a table.
 * @param tests of a file, each of a title of its own
 * @param own rows that have to be proved here; all where it is null
 */
export const chosenOf = (
  tests: readonly Given[], run: Run, own: ReadonlySet<string> | null = null,
): readonly string[] => {
  const titles = tests.map(({ title }) => title)
  if (run.cell !== null) {
    return run.cell.startsWith(ofTest) ? titles.filter((one) => ofTest + one === run.cell) : titles
  }
  if (!run.short) return titles
  const order = chanceOf(`tests of ${run.file}`).shuffled([...titles.keys()])
  const promises = tests.map((one) => promisesOf(one, own))
  // A row that stands in a list of the file, and in no test, may be that of any test.
  if (![...own ?? []].every((row) => promises.some((some) => some.includes(row)))) return titles
  const taken = coverOf(promises, order)
  for (const at of order) if (taken.size < titles.length / share) taken.add(at)
  return titles.filter((_, at) => taken.has(at))
}

const requireDifferent = (titles: readonly string[]): void => {
  const twice = titles.find((title, at) => titles.indexOf(title) !== at)
  if (twice !== undefined) throw new TypeError(`two tests of one title: ${twice}`)
}

const runChosen = async (t: Test, given: readonly Given[]): Promise<void> => {
  const titles = given.map(({ title }) => title)
  requireDifferent(titles)
  const run = thisRun()
  const chosen = chosenOf(given, run, ownRows(run.file))
  const ids = (of: readonly string[]): readonly string[] => of.map((title) => ofTest + title)
  tell(run, {
    table: 'tests', ran: ids(chosen), left: ids(titles.filter((one) => !chosen.includes(one))),
  })
  for (const { title, more } of given) {
    if (chosen.includes(title)) await Reflect.apply(t.test, t, [title, ...more])
  }
}

/** What was given to be run together: all that a module gives while it is loaded. */
let gathered: Given[] | null = null

const gather = (title: string, ...more: unknown[]): void => {
  const { short, cell } = thisRun()
  const isEach = !short || process.env['SALLYPORT_TEST_RUN'] === 'tables'
  if (isEach && cell === null) {
    void Reflect.apply(tap.test, tap, [title, ...more])
    return
  }
  if (gathered === null) {
    const given: Given[] = gathered = []
    void tap.test('tests of this run', async (t) => {
      await turn()
      gathered = null
      await runChosen(t, given)
    })
  }
  gathered.push({ title, more })
}

/** Tap's own, but for the tests that a file gives it. */
export const t: typeof tap = new Proxy(tap, {
  get: (of, key) => {
    if (key === 'test') return gather
    const found: unknown = Reflect.get(of, key, of)
    return typeof found === 'function' ? (found.bind(of) as unknown) : found
  },
})
