/** Segments as a pure format: whatever is written is read back, by key, by range and in reverse. */
import * as v from 'valibot'
import type { Built, SegmentFacts } from '../../../src/state/segments/build.js'
import { buildSegments, segmentShape } from '../../../src/state/segments/build.js'
import { buildFilter, hashesOf, mayHold } from '../../../src/state/segments/filter.js'
import { mergeRows, withoutRemoved } from '../../../src/state/segments/merge.js'
import { BlockCache, Segment } from '../../../src/state/segments/read-segment.js'
import type { LostRows } from '../../../src/state/segments/read-segment.js'
import type { Row } from '../../../src/state/segments/row.js'
import { compareKeys, lineOf, rowOf } from '../../../src/state/segments/row.js'
import { Table, boundsOf } from '../../../src/state/segments/table.js'
import { codeOf } from '../../support/refused.js'
import { seeded } from '../../support/state/mem-files.js'
import { errorOf } from '../../support/state/notes.js'
import { t } from '../../support/tests-in-slices.js'
import { sha256Hex } from '../../../src/base/canonical.js'

const small = { blockBytes: 200, fileBytes: 1600 }

const nasty = ['a', 'a/b', 'a"b', 'back\\slash', '\\"', 'ü', '\u{1f600}', '\uffff', 'x'.repeat(300),
  '\n', '","', '__proto__', '10', '9', ']', '"],["', '"],[', 'x"],[', '\\"],[']

const someRows = (random: () => number, count: number): Row[] => {
  const rows = new Map<string, Row>()
  for (let i = 0; i < count; i += 1) {
    const collection = ['alpha', 'beta', 'beta_more'][Math.floor(random() * 3)] ?? ''
    const id = random() < 0.2
      ? nasty[Math.floor(random() * nasty.length)] ?? '' : `id-${Math.floor(random() * 400)}`
    const text = random() < 0.2 ? null : JSON.stringify({ n: i, text: 'y'.repeat(random() * 80) })
    rows.set(`${collection} ${id}`, { collection, id, text })
  }
  return [...rows.values()].sort(compareKeys)
}

const segmentOf = ({ bytes, facts }: Built, number = 1, cache?: BlockCache): Segment => {
  const named: SegmentFacts = { name: `000000000001.${number}.seg`, ...facts }
  v.parse(segmentShape, named)
  return new Segment({
    facts: named, read: (at, length) => bytes.subarray(at, at + length),
  }, cache)
}

const runOf = (rows: readonly Row[], cache?: BlockCache): Segment[] =>
  [...buildSegments(rows, small)].map((built, i) => segmentOf(built, i + 1, cache))

const plain = (rows: Iterable<Row>): Row[] =>
  [...rows].map(({ collection, id, text }) => ({ collection, id, text }))

t.test('a row is one line, whatever its id holds', async (t) => {
  for (const id of nasty) {
    for (const text of ['{"a":"]"}', null, '"x"']) {
      const line = lineOf({ collection: 'notes', id, text })
      t.strictSame(rowOf(line), { collection: 'notes', id, text })
      t.notOk(line.includes('\n'))
      t.strictSame(JSON.parse(line), text === null
        ? ['notes', id] : ['notes', id, JSON.parse(text)])
    }
  }
  for (const bad of ['', '[]', '["a"]', '["a","b"', '["a","b"x', '["a","b"]]', '{"a":1}']) {
    t.equal(rowOf(bad), undefined, bad)
  }
})

t.test('what is built is read back by key, in order, in reverse and within bounds', async (t) => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = seeded(seed)
    const rows = someRows(random, 150)
    const run = runOf(rows, seed % 2 === 0 ? new BlockCache(600) : undefined)
    const table = new Table([run])
    t.ok(run.length > 2, 'several files')
    t.strictSame(plain(table.scan()), rows)
    t.strictSame(plain(table.scan({}, true)), [...rows].reverse())
    for (const row of rows) t.strictSame(plain([table.find(row) as Row]), [row])
    t.equal(table.find({ collection: 'beta', id: 'nothing' }), undefined)
    for (let i = 0; i < 20; i += 1) {
      const at = rows[Math.floor(random() * rows.length)] as Row
      const bounds = { ...boundsOf(at.collection, at.id.slice(0, 2)) }
      const expected = rows.filter((row) =>
        row.collection === at.collection && row.id.startsWith(at.id.slice(0, 2)))
      t.strictSame(plain(table.scan(bounds)), expected)
      t.strictSame(plain(table.scan(bounds, true)), [...expected].reverse())
      const after = { ...bounds, low: at, lowOpen: true }
      t.strictSame(plain(table.scan(after)), expected.filter((row) => compareKeys(row, at) > 0))
    }
  }
})

t.test('of several runs the newest row of a key counts, and a removal hides older ones', async (t) => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = seeded(seed * 77)
    const runs = Array.from({ length: 5 }, () => someRows(random, 60))
    const expected = new Map<string, Row>()
    for (const rows of [...runs].reverse()) {
      for (const row of rows) expected.set(`${row.collection} ${row.id}`, row)
    }
    const sorted = [...expected.values()].sort(compareKeys)
    t.strictSame([...mergeRows(runs)], sorted)
    t.strictSame([...withoutRemoved(mergeRows(runs))], sorted.filter((row) => row.text !== null))
    const table = new Table(runs.map((rows) => runOf(rows)))
    t.strictSame(plain(table.scan({}, true)), [...sorted].reverse())
    for (const row of sorted) t.strictSame(table.find(row)?.text, row.text)
  }
})

t.test('a filter never says "not here" of a key that is, and seldom "here" of one that is not', async (t) => {
  const keys = Array.from({ length: 5000 }, (_, i) => ({ collection: 'images', id: `k${i}` }))
  const filter = buildFilter(keys)
  t.ok(keys.every((key) => mayHold(filter, hashesOf(key))))
  const wrong = keys.filter(({ id }) =>
    mayHold(filter, hashesOf({ collection: 'images', id: `${id}x` }))).length
  t.ok(wrong < 100, `${wrong} of 5000`)
})

t.test('files stay below their limit, and a longer row has one of its own', async (t) => {
  const textOf = (i: number): string => JSON.stringify('z'.repeat(i === 50 ? 4000 : 50))
  const rows = Array.from({ length: 100 }, (_, i) =>
    ({ collection: 'notes', id: `k${100 + i}`, text: textOf(i) }))
  const sizes = [...buildSegments(rows, small)].map(({ facts }) => facts)
  t.ok(sizes.every(({ bytes, rows: count }) => bytes <= 2 * small.fileBytes || count === 1))
  t.equal(sizes.reduce((sum, { rows: count }) => sum + count, 0), 100)
})

t.test('durability 11: a flip at any byte of a segment never gives another answer, and no row hides', async (t) => {
  const rows = someRows(seeded(5), 25)
  const [built] = [...buildSegments(rows, { blockBytes: 200, fileBytes: 100_000 })]
  if (built === undefined) throw new Error('nothing was built')
  const wrong: string[] = []
  for (let at = 0; at < built.bytes.length; at += 1) {
    const bytes = Buffer.from(built.bytes)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << at % 8)
    const run = [segmentOf({ ...built, bytes })]
    let damaged = 0
    for (const row of rows) {
      let text: string | null | undefined
      const told = codeOf(() => (text = new Table([run]).find(row)?.text))
      if (told === 'none' ? text !== row.text : told !== 'collection_damaged') {
        wrong.push(`${at}: ${row.id}: ${told}`)
      }
      if (told !== 'none') damaged += 1
    }
    if (damaged === 0) wrong.push(`${at}: nobody noticed`)
  }
  t.strictSame(wrong, [])
})

t.test('a line of an index that is none is damage for whoever needs it, and for nobody else', async (t) => {
  const rows = someRows(seeded(9), 40)
  const [built] = [...buildSegments(rows, { blockBytes: 200, fileBytes: 100_000 })]
  if (built === undefined) throw new Error('nothing was built')
  const lines = segmentOf(built).index
  const last = lines.length - 1
  const found = (change: (all: unknown[]) => unknown): Segment => {
    const index = Buffer.from(`${JSON.stringify(change([...lines]))}\n`)
    const at = built.bytes.length
    return segmentOf({
      bytes: Buffer.concat([built.bytes, index]),
      facts: { ...built.facts, index: [at, index.length, sha256Hex(index)] },
    })
  }
  const damaged = { code: 'collection_damaged' }
  for (const line of [[], lines[last]?.slice(0, 4), ['a', 'b', '0', 1, 'c']]) {
    const segment = found((all) => all.with(last, line))
    t.strictSame(plain(segment.scan({ high: rows[3] as Row })), rows.slice(0, 3))
    t.hasStrict(errorOf(() => [...segment.scan()]), damaged, JSON.stringify(line))
    t.hasStrict(errorOf(() => segment.index), damaged)
  }
  t.hasStrict(errorOf(() => [...found(() => ({})).scan()]), damaged)
  t.hasStrict(errorOf(() => [...found((all) => all.with(last, null)).scan()]), damaged)
  t.hasStrict(errorOf(() => [...found(() => []).scan()]), damaged, 'no file is without a block')
})

t.test('a damaged block loses its own rows only, and says which they may be', async (t) => {
  const rows = someRows(seeded(9), 40)
  const [built] = [...buildSegments(rows, { blockBytes: 200, fileBytes: 100_000 })]
  if (built === undefined) throw new Error('nothing was built')
  const segment = segmentOf(built)
  for (const [n, [, , offset]] of segment.index.entries()) {
    const bytes = Buffer.from(built.bytes)
    bytes[offset + 5] = (bytes[offset + 5] ?? 0) ^ 1
    const hurt = segmentOf({ ...built, bytes })
    const lost: LostRows[] = []
    const left = plain(hurt.scan({}, false, (range) => lost.push(range)))
    t.equal(lost.length, 1)
    const { from, to } = lost[0] as LostRows
    const gone = rows.filter((row) => compareKeys(row, from) >= 0 &&
      (to === undefined || compareKeys(row, to) < 0))
    t.strictSame(left, rows.filter((row) => !gone.includes(row)), `block ${n}`)
    t.ok(gone.length > 0)
    t.hasStrict(errorOf(() => [...hurt.scan()]), { code: 'collection_damaged' })
  }
})
