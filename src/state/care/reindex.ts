/**
 * Makes the entries of indexes, and what is counted, again from the rows: after a loss, in a
 * restored copy, and where a state was written before there were such. What is right is not written
 * again. It streams: many entries are sorted piece by piece, each as a run of its own, which are
 * then merged.
 */
import { shapeCheck } from '../../base/compiled-shape.js'
import type { Derivation, DerivedRows } from '../derived.js'
import { removeFile, type Files } from '../files.js'
import { entriesOf, entryText, indexCollections, isIndexName } from '../indexes.js'
import { canonicalText } from '../log/canonical-text.js'
import type { Places } from '../paths.js'
import type { SegmentFacts } from '../segments/build.js'
import { mergeRows } from '../segments/merge.js'
import { levelOf } from '../segments/plan.js'
import type { Bounds } from '../segments/read-segment.js'
import { compareKeys, type Row } from '../segments/row.js'
import { boundsOf, scanRun } from '../segments/table.js'
import type { SegmentWriter } from '../snapshot/fold.js'
import { bytesOf, type Run } from '../snapshot/manifest.js'
import { SegmentPool } from '../snapshot/pool.js'
import type { CollectionSpec } from '../types.js'
import { IndexSums } from './index-sums.js'
import { RowSet, StateRows } from './all-rows.js'

/** What the layers above keep in a state. */
export interface Layout {
  /** Every collection, with its indexes. */
  readonly specs?: readonly CollectionSpec<unknown>[] | undefined
  /** Collections whose rows are counted from others. */
  readonly derived?: readonly DerivedRows[] | undefined
}

/** Entries that are sorted in memory at once. */
const entriesAtOnce = 200_000

/** The document of a row, as its collection has it today; undefined where it breaks its shape. */
export const fittingDocument = (
  { schema, upgrade }: CollectionSpec<unknown>, text: string,
): { readonly doc: unknown } | undefined => {
  let stored: unknown
  try {
    stored = JSON.parse(text)
  } catch {
    return undefined
  }
  const doc = upgrade === undefined ? stored : upgrade(stored)
  return shapeCheck(schema)(doc) ? { doc } : undefined
}

/** Where rows are read and what is written between. */
interface Work {
  readonly files: Files
  readonly places: Places
  readonly rows: StateRows
  readonly writer: SegmentWriter
  readonly entriesAtOnce: number
  /** Files that are needed no longer than this takes. */
  readonly between: SegmentFacts[]
}

/** Entries that the rows of a collection ask for, in no order. */
function* entriesFor(
  { rows }: Work, spec: CollectionSpec<unknown>,
): Generator<Row, void, undefined> {
  const collections = indexCollections(spec)
  for (const { id, text } of rows.rows(boundsOf(spec.name), () => undefined)) {
    const fitting = fittingDocument(spec, text ?? '')
    if (fitting === undefined) continue
    for (const index of collections) {
      for (const entry of entriesOf(index, fitting.doc, id)) {
        yield { collection: index.name, id: entry, text: entryText }
      }
    }
  }
}

/** Rows that are counted from what is there; nothing where their source is not declared. */
const derivedRows = (
  { rows }: Work, { name, from, begin }: DerivedRows, specs: Layout['specs'],
): Row[] => {
  const spec = specs?.find((one) => one.name === from)
  const count = begin()
  if (spec !== undefined) {
    for (const { id, text } of rows.rows(boundsOf(from), () => undefined)) {
      const fitting = fittingDocument(spec, text ?? '')
      if (fitting !== undefined) count.add({ id, doc: fitting.doc })
    }
  }
  return rowsOf(name, count)
}

const rowsOf = (collection: string, count: Derivation): Row[] =>
  Array.from(count.rows(), ({ id, doc }) => ({ collection, id, text: canonicalText(doc) }))
    .sort(compareKeys)

/** Rows in their order, however many there are. */
function* sorted(work: Work, rows: Iterable<Row>): Generator<Row, void, undefined> {
  const { files, places, writer, between } = work
  const runs: SegmentFacts[][] = []
  let some: Row[] = []
  for (const row of rows) {
    some.push(row)
    if (some.length < work.entriesAtOnce) continue
    runs.push(writer.writeAll(some.sort(compareKeys)))
    some = []
  }
  between.push(...runs.flat())
  some.sort(compareKeys)
  const lease = new SegmentPool(files, places, 0).lease({
    runs: runs.map((written, id) => ({ id, level: 0, files: written })),
  })
  try {
    yield* mergeRows<Row>([some, ...lease.table.runs.map((run) => scanRun(run))])
  } finally {
    lease.release()
  }
}

/** What makes the stored entries those that are asked for. */
function* corrections(
  asked: Iterator<Row>, stored: Iterator<Row>,
): Generator<Row, void, undefined> {
  let [one, other] = [asked.next(), stored.next()]
  while (one.done !== true || other.done !== true) {
    const order = one.done === true ? 1 : other.done === true ? -1
      : compareKeys(one.value, other.value)
    if (order < 0 && one.done !== true) yield one.value
    if (order > 0 && other.done !== true) yield { ...other.value, text: null }
    const differs = order === 0 && one.done !== true && other.done !== true
      && one.value.text !== other.value.text
    if (differs) yield one.value
    if (order <= 0) one = asked.next()
    if (order >= 0) other = stored.next()
  }
}

/** The part of the keyspace that holds every entry of a collection's indexes. */
const entryBounds = (name: string): Bounds => ({
  low: { collection: `${name}:`, id: '' }, high: { collection: `${name};`, id: '' },
})

/** Corrections of all indexes and counts, in the order of the keyspace. */
function* allCorrections(work: Work, layout: Layout): Generator<Row, void, undefined> {
  const jobs = new Map<string, () => Iterable<Row>>()
  for (const spec of layout.specs ?? []) {
    if (isIndexName(spec.name)) continue
    jobs.set(`${spec.name}:`, () => corrections(
      sorted(work, entriesFor(work, spec)),
      work.rows.rows(entryBounds(spec.name), () => undefined)))
  }
  for (const one of layout.derived ?? []) {
    jobs.set(one.name, () => corrections(
      derivedRows(work, one, layout.specs)[Symbol.iterator](),
      work.rows.rows(boundsOf(one.name), () => undefined)))
  }
  for (const key of [...jobs.keys()].sort()) yield* jobs.get(key)?.() ?? []
}

/** Runs with sound indexes. */
interface Reindexed {
  /** Newest first. */
  readonly runs: readonly Run[]
  readonly nextRun: number
  /** How many entries were missing, or were there for no row. */
  readonly corrected: number
}

/** Puts a run over some others that makes all indexes and counts right; nothing where they are. */
export const reindex = (
  files: Files, places: Places, runs: readonly Run[], nextRun: number, layout: Layout,
  writer: SegmentWriter, atOnce = entriesAtOnce,
): Reindexed => {
  const lease = new SegmentPool(files, places, 0).lease({ runs: [...runs] })
  const rows = new StateRows(lease, new RowSet())
  const work: Work = { files, places, rows, writer, entriesAtOnce: atOnce, between: [] }
  let written: SegmentFacts[]
  try {
    written = writer.writeAll(allCorrections(work, layout))
  } finally {
    rows.close()
    for (const { name } of work.between) removeFile(files, places.segment(name))
  }
  if (written.length === 0) return { runs, nextRun, corrected: 0 }
  const level = levelOf(bytesOf({ files: written }), 0, runs[0]?.level)
  return {
    runs: [{ id: nextRun, level, files: written }, ...runs],
    nextRun: nextRun + 1,
    corrected: written.reduce((sum, { rows: count }) => sum + count, 0),
  }
}

/** Whether the indexes of some rows, and what is counted, are right. Reads all of them. */
export const areIndexed = (rows: Iterable<Row>, { specs = [], derived = [] }: Layout): boolean => {
  const counted = new CountedAgain(derived)
  const known = new Map(specs.map((spec) => [spec.name, spec]))
  const sums = new IndexSums(specs)
  for (const row of rows) {
    const { collection, id, text } = row
    if (isIndexName(collection)) {
      sums.addEntry(row)
      continue
    }
    counted.store(row)
    const spec = known.get(collection)
    if (spec === undefined || !counted.asks(collection) && (spec.indexes ?? []).length === 0) {
      continue
    }
    const fitting = fittingDocument(spec, text ?? '')
    if (fitting === undefined) continue
    sums.addDocument(collection, id, fitting.doc)
    counted.add(collection, id, fitting.doc)
  }
  return sums.differences().length === 0 && counted.isRight()
}

/** What is counted and what is stored of it, side by side; both are few rows. */
class CountedAgain {
  readonly #counts: ReadonlyMap<string, Derivation[]>
  readonly #due: readonly { readonly name: string; readonly count: Derivation }[]
  readonly #stored: ReadonlyMap<string, Map<string, string | null>>

  constructor(derived: readonly DerivedRows[]) {
    const due = derived.map(({ name, from, begin }) => ({ name, from, count: begin() }))
    const counts = new Map<string, Derivation[]>()
    for (const { from, count } of due) counts.set(from, [...counts.get(from) ?? [], count])
    this.#due = due
    this.#counts = counts
    this.#stored = new Map(due.map(({ name }) => [name, new Map()]))
  }

  asks(collection: string): boolean {
    return this.#counts.has(collection)
  }

  store({ collection, id, text }: Row): void {
    this.#stored.get(collection)?.set(id, text)
  }

  add(collection: string, id: string, doc: unknown): void {
    for (const count of this.#counts.get(collection) ?? []) count.add({ id, doc })
  }

  isRight(): boolean {
    return this.#due.every(({ name, count }) => {
      const rows = rowsOf(name, count)
      const stored = this.#stored.get(name)
      return stored?.size === rows.length && rows.every(({ id, text }) => stored.get(id) === text)
    })
  }
}
