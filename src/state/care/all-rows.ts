/** Every row of a state as one sorted stream: the runs of a manifest and what lies over them. */
import type { Files } from '../files.js'
import { withLost } from '../history/lost.js'
import { historyLost, lostId, type LostRanges } from '../history/spec.js'
import { isIndexName } from '../indexes.js'
import { canonicalText } from '../log/canonical-text.js'
import type { Places } from '../paths.js'
import { mergeRows, withoutRemoved } from '../segments/merge.js'
import {
  isWithin, type Bounds, type LostRows, type OnLost, type Segment,
} from '../segments/read-segment.js'
import { compareKeys, type Key, type Row } from '../segments/row.js'
import { scanRun } from '../segments/table.js'
import type { SegmentFacts } from '../segments/build.js'
import type { SegmentWriter } from '../snapshot/fold.js'
import type { Run } from '../snapshot/manifest.js'
import { SegmentPool, type Lease } from '../snapshot/pool.js'
import type { SalvagedRecord } from './log-records.js'
import { evidenceOf, recordsOf, type Salvage, type Trace } from './salvage.js'

/** Rows in memory by key: what a few logs hold. */
export class RowSet {
  readonly #rows = new Map<string, Row>()

  set(row: Row): void {
    this.#rows.set(`${row.collection}/${row.id}`, row)
  }

  get({ collection, id }: Key): Row | undefined {
    return this.#rows.get(`${collection}/${id}`)
  }

  /** Lets the changes of records act, oldest first. */
  apply(records: readonly SalvagedRecord[]): this {
    for (const { content } of records) {
      for (const [collection, , id, ...rest] of content.ops) {
        this.set({ collection, id, text: rest.length === 0 ? null : canonicalText(rest[0]) })
      }
    }
    return this
  }

  sorted(bounds: Bounds = {}): Row[] {
    return [...this.#rows.values()].filter((row) => isWithin(row, bounds)).sort(compareKeys)
  }
}

/** Rows of the runs of a trace, and of its records over them. */
export class StateRows {
  readonly over: RowSet
  readonly #lease: Lease

  constructor(lease: Lease, over: RowSet) {
    this.#lease = lease
    this.over = over
  }

  get runs(): readonly (readonly Segment[])[] {
    return this.#lease.table.runs
  }

  /** The newest rows within bounds that hold a document. With `onLost` damage is passed over. */
  rows(bounds: Bounds = {}, onLost?: OnLost): Generator<Row> {
    const runs = this.runs.map((files) => scanRun(files, bounds, false, onLost))
    return withoutRemoved(mergeRows<Row>([this.over.sorted(bounds), ...runs]))
  }

  /** The newest row at a key; undefined where there is none, or where it cannot be read. */
  find(key: Key): Row | undefined {
    const over = this.over.get(key)
    if (over !== undefined) return over.text === null ? undefined : over
    const high = { ...key, id: `${key.id}\u0000` }
    const [found] = this.rows({ low: key, high }, () => undefined)
    return found
  }

  close(): void {
    this.#lease.release()
  }
}

/** The range of the keyspace that lost rows stand in. */
const boundsOfLost = ({ from, to }: LostRows): Bounds =>
  ({ low: from, ...(to === undefined ? {} : { high: to }) })

/** Everything that a salvage can put together. */
export interface Gathered {
  readonly rows: StateRows
  /** Rows that nobody can read any more, as ranges. */
  readonly lost: readonly LostRows[]
  /** How many rows of the runs these are, as far as files tell. */
  readonly lostRows: number
}

/** Whether nothing but entries of one index can have stood in a range. */
const isEntries = ({ from, to }: LostRows): boolean =>
  isIndexName(from.collection) &&
  (to?.collection === from.collection || to?.collection === `${from.collection}\u0000`)

/** Ranges of a trace's runs that cannot be read, and how many rows these are. */
const lostIn = (runs: readonly (readonly Segment[])[]): { lost: LostRows[]; rows: number } => {
  const lost: LostRows[] = []
  let rows = 0
  for (const segment of runs.flat()) {
    const before = lost.length
    let read = 0
    const { collection, id } = lastKey(segment)
    const onLost = (range: LostRows): void => {
      const to = range.to ?? { collection, id: `${id}\u0000` }
      // Entries of an index are made again from the rows.
      if (!isEntries({ ...range, to })) lost.push({ ...range, to })
    }
    for (const { text } of segment.scan({}, false, onLost)) if (text !== undefined) read += 1
    if (lost.length > before) rows += segment.facts.rows - read
  }
  return { lost, rows }
}

const lastKey = ({ facts: { last: [collection, id] } }: Segment): Key => ({ collection, id })

/** Rows of the manifest before at the moment of the standing one; undefined where it lacks them. */
export const filling = (
  pool: SegmentPool, { standing, before }: Salvage,
): StateRows | undefined => {
  if (standing === undefined || before === undefined) return undefined
  const { sequence, chain } = standing.manifest
  const records = recordsOf(before).filter((record) => record.sequence <= sequence)
  const head = records.at(-1) ?? before.manifest
  if (head.sequence !== sequence || head.chain !== chain) return undefined
  return new StateRows(pool.lease(before.manifest), new RowSet().apply(records))
}

/** All rows of one range, or undefined where not all of them can be read. */
const rowsWithin = (rows: StateRows, range: LostRows): Row[] | undefined => {
  let whole = true
  const found = [...rows.rows(boundsOfLost(range), () => {
    whole = false
  })]
  return whole ? found : undefined
}

/**
 * Takes lost ranges from the manifest before, where that leads to the standing one. With `hide`
 * what is older than a lost range is hidden below it: nobody knows whether it was still so.
 */
const fillLost = (
  pool: SegmentPool, found: Salvage, runs: StateRows, lost: readonly LostRows[], hide: boolean,
): { readonly over: RowSet; readonly left: readonly LostRows[] } => {
  const over = new RowSet()
  const older = filling(pool, found)
  const left = lost.filter((range) => {
    const rows = older === undefined ? undefined : rowsWithin(older, range)
    if (rows !== undefined || hide) {
      for (const row of runs.rows(boundsOfLost(range), () => undefined)) {
        over.set({ ...row, text: null })
      }
    }
    for (const row of rows ?? (hide ? survivors(runs, range) : [])) over.set(row)
    return rows === undefined
  })
  older?.close()
  return { over, left }
}

/** Rows of a lost range that are newer than the file which lost it. */
const survivors = (rows: StateRows, range: LostRows): Row[] => {
  const at = rows.runs.findIndex((run) => run.some(({ facts }) => facts.name === range.name))
  const newer = rows.runs.slice(0, at)
  return [...mergeRows<Row>(newer.map((run) =>
    scanRun(run, boundsOfLost(range), false, () => undefined)))]
}

/** Notes lost ranges for the histories that may have lain in them; see `history/lost.ts`. */
const noteLost = (rows: StateRows, lost: readonly LostRows[], at: string): void => {
  const key = { collection: historyLost.name, id: lostId }
  const known = rows.find(key)?.text ?? undefined
  const ranges = lost.flatMap(({ from, to }) => (to === undefined ? [] : [{
    at,
    from: [from.collection, from.id] satisfies [string, string],
    to: [to.collection, to.id] satisfies [string, string],
  }]))
  const all = withLost(known === undefined ? undefined : JSON.parse(known) as LostRanges, ranges)
  if (all !== undefined) rows.over.set({ ...key, text: canonicalText(all) })
}

/**
 * What can still be read of the newest manifest and its logs. With `evidence` also what is shown to
 * have been there: behind an untrue record, or before a lost row. Close its rows when done.
 */
export const gather = (
  files: Files, places: Places, found: Salvage & { readonly standing: Trace },
  evidence: 'left out' | 'applied' = 'left out',
): Gathered => {
  const { standing } = found
  const pool = new SegmentPool(files, places, 0)
  const lease = pool.lease(standing.manifest)
  const { lost, rows: lostRows } = lostIn(lease.table.runs)
  const bare = new StateRows(lease, new RowSet())
  const { over, left } = fillLost(pool, found, bare, lost, evidence === 'left out')
  over.apply(recordsOf(standing))
  if (evidence === 'applied') over.apply(evidenceOf(standing))
  const rows = new StateRows(lease, over)
  // What was lost from a run was there when its manifest was written.
  if (evidence === 'left out') noteLost(rows, left, standing.manifest.written_at)
  return { rows, lost: left, lostRows: left.length === 0 ? 0 : lostRows }
}

/** Files of which a part cannot be read, with the rows that can be. */
export const badFiles = ({ rows }: Gathered): ReadonlyMap<string, Segment> => {
  const bad = new Map<string, Segment>()
  for (const segment of rows.runs.flat()) {
    let whole = true
    const scan = segment.scan({}, false, () => {
      whole = false
    })
    while (scan.next().done !== true) { /* every block is looked at */ }
    if (!whole) bad.set(segment.facts.name, segment)
  }
  return bad
}

/**
 * Runs without what cannot be read: what can be read of a bad file is written anew, and a file that
 * is whole is taken as `keep` gives it.
 */
export const soundRuns = (
  runs: readonly Run[], bad: ReadonlyMap<string, Segment>, writer: SegmentWriter,
  keep: (facts: SegmentFacts) => SegmentFacts = (facts) => facts,
): Run[] =>
  runs.flatMap((run) => {
    const files = run.files.flatMap((facts) => {
      const segment = bad.get(facts.name)
      return segment === undefined
        ? [keep(facts)] : writer.writeAll(segment.scan({}, false, () => undefined))
    })
    return files.length === 0 ? [] : [{ ...run, files }]
  })
