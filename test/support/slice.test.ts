/** What a run goes through of a table. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { chanceOf } from './chance.js'
import { rounds, slice, sliceOf, type Run } from './slice.js'

const all: Run = { short: false, cell: null, file: 'test/a.test.ts', told: null }
const short: Run = { ...all, short: true }

/** A table of rows and columns in which some cells do not exist. */
const upToNine = fc.integer({ min: 1, max: 9 })
const table = fc.record({ rows: upToNine, columns: upToNine })
  .chain(({ rows, columns }) => fc.subarray(
    Array.from({ length: rows * columns }, (_, at) =>
      [`row ${at % rows}`, `column ${Math.floor(at / rows)}`] as const),
    { minLength: 1 },
  ))

/** A table of three axes of up to four values. */
const cube = fc.uniqueArray(
  fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 64, selector: String },
).map((cells) => cells.map((cell) => cell.map(String)))

t.test('a slice has every row and every column of any table', async (t) => {
  fc.assert(fc.property(table, fc.nat(), (cells, seed) => {
    const taken = slice('table', cells, { axesOf: (cell) => cell }, short)
    const order = chanceOf('', seed).shuffled([...cells.keys()])
    const cut = sliceOf(cells, order).map((at) => cells[at]!)
    for (const axis of [0, 1] as const) {
      const values = new Set(cells.map((cell) => cell[axis]))
      for (const one of [taken, cut]) {
        t.strictSame(new Set(one.map((cell) => cell[axis])), values)
      }
    }
    const rows = new Set(cells.map(([row]) => row)).size
    const columns = new Set(cells.map(([, column]) => column)).size
    t.ok(cut.length < rows + columns, 'it is no larger than the rows and columns together')
  }))
})

t.test('a slice by pairs has every pair that two axes have in some cell', async (t) => {
  const pairsOf = (cells: readonly (readonly string[])[]): Set<string> => new Set(cells.flatMap(
    ([a, b, c]) => [`ab ${a} ${b}`, `ac ${a} ${c}`, `bc ${b} ${c}`],
  ))
  fc.assert(fc.property(cube, fc.nat(), (cells, seed) => {
    const order = chanceOf('', seed).shuffled([...cells.keys()])
    const cut = sliceOf(cells, order, { cover: 'pairs' }).map((at) => cells[at]!)
    t.strictSame(pairsOf(cut), pairsOf(cells))
  }))
})

t.test('a full table of three axes is cut to few more cells than its largest two make', async (t) => {
  const values = [0, 1, 2, 3, 4, 5]
  const cells = values.flatMap((a) =>
    values.flatMap((b) => values.map((c) => [a, b, c].map(String))))
  const cut = sliceOf(cells, chanceOf('', 1).shuffled([...cells.keys()]), { cover: 'pairs' })
  t.ok(cut.length >= 36 && cut.length <= 60, `${cut.length} of ${cells.length}`)
})

t.test('the rest is chance: as many as asked for, others by another seed, in the order given', async (t) => {
  const cells = Array.from({ length: 200 }, (_, at) => [String(at % 2), String(at % 5)])
  const cutBy = (seed: number): number[] =>
    sliceOf(cells, chanceOf('', seed).shuffled([...cells.keys()]), { atLeast: 20 })
  t.equal(cutBy(1).length, 20)
  t.strictSame(cutBy(1), cutBy(1))
  t.strictNotSame(cutBy(1), cutBy(2))
  t.strictSame(cutBy(3), cutBy(3).toSorted((a, b) => a - b))
  t.equal(sliceOf(cells.slice(0, 3), [2, 1, 0], { atLeast: 20 }).length, 3, 'there are no more')
})

t.test('the long run goes through every cell, and a run of one cell through that', async (t) => {
  fc.assert(fc.property(table, fc.nat(), (cells, at) => {
    const options = { axesOf: (cell: readonly string[]) => cell }
    t.strictSame(slice('table', cells, options, all), cells)
    const one = cells[at % cells.length]!
    const id = `table/${one.join('/')}`
    t.strictSame(slice('table', cells, options, { ...all, cell: id }), [one])
    t.strictSame(slice('other', cells, options, { ...all, cell: id }), [])
    t.strictSame(slice('table', cells, options, { ...all, cell: 'tests/a title' }), cells)
  }))
})

t.test('two cells of one name are refused, and another name may be given', async (t) => {
  const cells = ['a', 'a']
  t.throws(() => slice('twice', cells, { axesOf: (one) => [one] }, all), /two cells/)
  let number = 0
  const named = { axesOf: (one: string) => [one], idOf: (one: string) => `${one} ${number++}` }
  t.strictSame(slice('twice', cells, named, all), cells)
})

t.test('the runner is told what ran and what was left', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-slice-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'cells.jsonl')
  const told = (run: Run): Run => ({ ...run, told: path })
  const cells = ['a', 'b'].flatMap((row) => ['c', 'd'].map((column) => [row, column]))
  const taken = slice('two', cells, { axesOf: (cell) => cell }, told(short))
  t.equal(rounds('loop', { short: 2, all: 9 }, told(short)), 2)
  t.equal(rounds('loop', { short: 2, all: 9 }, told(all)), 9)
  t.equal(rounds('loop', { short: 9, all: 2 }, told(short)), 2, 'never more than all')
  const [first, loop, ...more] = readFileSync(path, 'utf8').trim().split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  t.strictSame(more, [])
  t.strictSame(loop, { file: 'test/a.test.ts', loop: 'loop', rounds: 2, all: 9 })
  t.equal(first?.['file'], 'test/a.test.ts')
  const ids = (list: readonly string[][]): string[] => list.map((cell) => `two/${cell.join('/')}`)
  t.strictSame(first?.['ran'], ids([...taken]))
  t.strictSame(first?.['left'], ids(cells.filter((cell) => !taken.includes(cell))))
})

t.test('chance can be had again, and is another by another name or seed', async (t) => {
  const drawn = (name: string, seed: number): number[] => {
    const chance = chanceOf(name, seed)
    return Array.from({ length: 8 }, () => chance.below(1_000))
  }
  t.strictSame(drawn('one', 1), drawn('one', 1))
  t.strictNotSame(drawn('one', 1), drawn('two', 1))
  t.strictNotSame(drawn('one', 1), drawn('one', 2))
  fc.assert(fc.property(fc.nat(), fc.array(fc.nat(), { maxLength: 30 }), (seed, list) => {
    const chance = chanceOf('list', seed)
    const mixed = chance.shuffled(list)
    t.strictSame(mixed.toSorted((a, b) => a - b), list.toSorted((a, b) => a - b))
    const next = chance.next()
    t.ok(next >= 0 && next < 1)
    if (list.length > 0) t.ok(list.includes(chance.pick(list)))
  }))
  t.throws(() => chanceOf('none', 1).pick([]), /nothing to pick/)
  const counts = [0, 0, 0, 0]
  const chance = chanceOf('even', 1)
  for (let turn = 0; turn < 4_000; turn++) counts[chance.below(4)]! += 1
  t.ok(Math.min(...counts) > 850, `four faces come about as often: ${counts.join(' ')}`)
})

t.test('a table that takes minutes is gone through whole where its file is asked for by its name alone', async (t) => {
  const cells = Array.from({ length: 40 }, (_, at) => [`row ${at % 4}`, `column ${at}`] as const)
  const options = {
    axesOf: ([row]: typeof cells[number]) => [row], idOf: (cell: typeof cells[number]) => cell[1],
    takesMinutes: true,
  }
  const taken = (run: Run): number => slice('table', cells, options, run).length
  t.strictSame(
    [taken({ ...all, named: true }), taken({ ...all, named: false }), taken(short)], [40, 4, 4])
  t.equal(slice('table', cells, { ...options, takesMinutes: false }, { ...all, named: false }).length, 40)
})
