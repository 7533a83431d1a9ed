/** Which tests of a long file the short run goes through. */
import tap from 'tap'
import type { Run } from './slice.js'
import { chosenOf, type Given } from './tests-in-slices.js'

const all: Run = { short: false, cell: null, file: 'test/a.test.ts', told: null }
const short: Run = { ...all, short: true }

const given = (title: string, body: (t: typeof tap) => unknown = () => undefined): Given =>
  ({ title, more: [{ skip: false }, body] })

const rows = ['A-001 one', 'A-001 the same', 'A-001 C-002 both', 'S-003 durability 4 another']

tap.test('every requirement that a file proves is proved in the short run, with as few tests as may be', async (t) => {
  const tests = rows.map((title) => given(title))
  t.strictSame(chosenOf(tests, short), ['A-001 C-002 both', 'S-003 durability 4 another'])
  t.strictSame(chosenOf(tests, all), rows, 'the long run leaves none out')
  t.strictSame(chosenOf(tests, short, new Set(['S-003'])), ['S-003 durability 4 another'],
    'what another file proves is not proved here, too')
  t.strictSame(chosenOf(tests, short, new Set(['S-003', 'S-004'])), rows,
    'where no test shows a row that is to be proved here, all are run')
  const within = given('no row of its own', async (t) => {
    await t.test('A-009 a test within', () => undefined)
  })
  t.ok(chosenOf([...tests, within], short).includes('no row of its own'))
})

tap.test('a test with a table is run, since its slice is less than it already', async (t) => {
  const slice = (_: string): readonly string[] => []
  const plain = Array.from({ length: 8 }, (_, at) => given(`test ${at}`))
  const chosen = chosenOf([...plain, given('a table', () => slice('cells'))], short)
  t.ok(chosen.includes('a table'))
  t.equal(chosen.length, 3, 'a quarter of nine, at least')
  t.notOk(chosenOf([...plain, ...plain.map(({ title }) => given(`${title}, a list`, () =>
    title.slice(1)))], short).length > 4, 'a part of a list is no table')
})

tap.test('other tests are chosen by chance, by that of the file and of the seed', async (t) => {
  const tests = Array.from({ length: 40 }, (_, at) => given(`test ${at}`))
  t.equal(chosenOf(tests, short).length, 10)
  t.strictSame(chosenOf(tests, short), chosenOf(tests, short))
  t.strictNotSame(chosenOf(tests, short), chosenOf(tests, { ...short, file: 'test/b.test.ts' }))
})

tap.test('a run of one cell runs the test of that title, and all of them for a cell of a table', async (t) => {
  const tests = rows.map((title) => given(title))
  t.strictSame(chosenOf(tests, { ...all, cell: 'tests/A-001 one' }), ['A-001 one'])
  t.strictSame(chosenOf(tests, { ...all, cell: 'tests/none' }), [])
  t.strictSame(chosenOf(tests, { ...all, cell: 'table/cell' }), rows)
})
