/**
 * The documents of a state, read once from the first to the last: every byte of every file against
 * its digest, the order of its rows, and the shape of each document. Memory is bounded by a file.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { truncateBehind, goneText, tornText, type EndedAt } from '../ended-at.js'
import { readWhole, unlessUntrue } from '../files.js'
import { mergeRows, withoutRemoved } from '../segments/merge.js'
import { historyLost, lostId } from '../history/spec.js'
import type { Bounds, LostRows, Segment } from '../segments/read-segment.js'
import { compareKeys, type Row } from '../segments/row.js'
import { formatVersion } from '../paths.js'
import type { SegmentFacts } from '../segments/build.js'
import { segmentsIn } from '../snapshot/manifest.js'
import { SegmentPool } from '../snapshot/pool.js'
import type { CollectionSpec, Problem } from '../types.js'
import { historyProblems } from './check-histories.js'
import { recordsOf, type Salvage, type SalvagedLog, type Trace } from './salvage.js'
import { IndexSums } from './index-sums.js'
import { fittingDocument } from './reindex.js'
import { RowSet, StateRows } from './all-rows.js'
import { spareProblems } from './check-spare.js'
import type { Site } from './use-case.js'

/** A problem that needs a repair or a backup. */
export const damage = (code: string, message: string, subject?: string): Problem =>
  ({ code, severity: 'damage', message, ...(subject === undefined ? {} : { subject }) })
/** Something that is only worth knowing. */
export const notice = (code: string, message: string, subject?: string): Problem =>
  ({ code, severity: 'notice', message, ...(subject === undefined ? {} : { subject }) })

interface GenerationReport {
  readonly store_id: string | null
  readonly epoch: number | null
  readonly sequence: number | null
  readonly log_records: number
  readonly documents: number
}

const logSubject = (epoch: number): string => `wal epoch ${epoch}`

const tailProblem = (
  log: SalvagedLog, { broken, head }: Trace, isNewest: boolean,
  seenTo: number | undefined,
): Problem | undefined => {
  if (log.tail === 'clean') return undefined
  const subject = logSubject(log.epoch)
  const isBroken = broken?.epoch === log.epoch
  if (isNewest && log.tail === 'torn') {
    return {
      code: 'log_torn', severity: 'torn', subject,
      message: `The log ends in a torn record (${log.bytesBehind} bytes): `
        + `${tornText(head.sequence, seenTo)}.`,
    }
  }
  const behind = `${log.bytesBehind} bytes, ${log.recordsBehind} record headers`
  if (isBroken) {
    const text = `Untrue bytes follow sequence ${head.sequence} (${behind}).`
    return damage(`log_${log.tail}`, text, subject)
  }
  return notice(`old_log_${log.tail}`, `The seal of a log is untrue (${behind}).`, subject)
}

/** Where the records break off, as far as no log's own end tells it. */
const breakProblem = ({ broken, orphan }: Trace): readonly Problem[] => {
  if (orphan !== null) {
    return [damage('manifest_missing', 'The manifest that a log goes on from is gone.',
      logSubject(orphan))]
  }
  if (broken?.how === 'missing') {
    return [damage('log_missing', `The log of epoch ${broken.epoch} is gone.`,
      logSubject(broken.epoch))]
  }
  if (broken?.how !== 'gap') return []
  const text = 'A log does not go on where the one before it ends.'
  return [damage('log_damaged', text, logSubject(broken.epoch))]
}

/** A log that ends where records are known to have been cut, at the end of a whole one. */
const cutProblem = (trace: Trace, behind: number | undefined): readonly Problem[] => {
  const last = trace.logs.at(-1)
  if (behind === undefined || last?.tail !== 'clean') return []
  const text = `The log was cut: ${goneText(trace.head.sequence, behind)}.`
  return [notice('log_cut', text, logSubject(last.epoch))]
}

const behindEnd = (ended: EndedAt | undefined, { logs, head }: Trace): number | undefined =>
  truncateBehind(ended, { epoch: logs.at(-1)?.epoch ?? 0, sequence: head.sequence })

const logProblems = (trace: Trace, behind: number | undefined): readonly Problem[] => [
  ...trace.logs.flatMap((log) => [
    ...(log.headerState === 'true' ? [] : [damage('log_header_damaged',
      'The first line of a log is untrue.', logSubject(log.epoch))]),
    ...[tailProblem(log, trace, log === trace.logs.at(-1), behind)]
      .filter((one) => one !== undefined),
  ]),
  ...breakProblem(trace),
  ...cutProblem(trace, behind),
]

/** Manifests that are untrue or gone; those before one that a fold made are its spare. */
const manifestProblems = ({ untrue, remade, standing }: Salvage): readonly Problem[] =>
  [...untrue, ...remade.map(({ number }) => number)].flatMap((number) => {
    const isNewest = number >= (standing?.manifest.number ?? 0)
    if (!isNewest && standing?.manifest.founding === false) return []
    const report = isNewest ? damage : notice
    return [report('manifest_damaged', 'A manifest is untrue.', `manifest ${number}`)]
  })

/** Whether a file's bytes are what the manifest says. */
const fileProblem = ({ files, places }: Site, facts: SegmentFacts): Problem | undefined => {
  const bytes = unlessUntrue(() => readWhole(files, places.segment(facts.name), facts.bytes))
  if (bytes !== undefined && hash('sha256', bytes) === facts.sha256) return undefined
  return damage('collection_damaged',
    `A snapshot file is missing or untrue (${facts.rows} rows).`, facts.name)
}

interface Order { wrong: boolean }

/** Gives a run's rows on and looks whether each comes behind the one before. */
function* inOrder(rows: Iterable<Row>, order: Order): Generator<Row> {
  let before: Row | undefined
  for (const row of rows) {
    if (before !== undefined && compareKeys(before, row) >= 0) order.wrong = true
    before = row
    yield row
  }
}

/** Whether the rows of a file are as many, and between the keys, as the manifest says. */
function* asRecorded(segment: Segment, order: Order, onLost: (lost: LostRows) => void):
Generator<Row> {
  const { first, last, rows, removed } = segment.facts
  let [seen, gone, lost] = [0, 0, false]
  const ends: Row[] = []
  for (const row of segment.scan({}, false, (range) => {
    lost = true
    onLost(range)
  })) {
    seen += 1
    if (row.text === null) gone += 1
    if (ends.length === 0) ends.push(row)
    ends[1] = row
    yield row
  }
  if (lost) return
  const isAt = (row: Row | undefined, [collection, id]: readonly [string, string]): boolean =>
    row?.collection === collection && row.id === id
  const same = seen === rows && gone === removed && isAt(ends[0], first) && isAt(ends[1], last)
  if (!same) order.wrong = true
}

/** Counts documents, and those of each collection that break its shape. */
class Shapes {
  readonly #known: ReadonlyMap<string, CollectionSpec<unknown>>
  readonly #wrong = new Map<string, number>()
  readonly #seen = new Set<string>()
  readonly #sums: IndexSums
  documents = 0
  /** Whether rows could not be read: then indexes cannot be compared. */
  lost = false

  constructor(specs: readonly CollectionSpec<unknown>[]) {
    const known = specs.length === 0 ? [] : [...specs, historyLost]
    this.#known = new Map(known.map((spec) => [spec.name, spec]))
    this.#sums = new IndexSums(specs)
  }

  add(row: Row): void {
    const { collection, id, text } = row
    if (this.#sums.knows(collection)) {
      this.#sums.addEntry(row)
      return
    }
    this.documents += 1
    this.#seen.add(collection)
    const spec = this.#known.get(collection)
    if (spec === undefined) return
    const fitting = fittingDocument(spec, text ?? '')
    if (fitting === undefined) this.#wrong.set(collection, (this.#wrong.get(collection) ?? 0) + 1)
    else this.#sums.addDocument(collection, id, fitting.doc)
  }

  /** Indexes that disagree with their rows. */
  indexProblems(): readonly Problem[] {
    if (this.lost) return []
    return this.#sums.differences().map(({ name, expected, stored }) => damage('index_differs',
      `An index disagrees with its rows: ${expected} entries are due, ${stored} are there.`, name))
  }

  /** Names of the collections that have documents. */
  get collections(): ReadonlySet<string> {
    return this.#seen
  }

  problems(): readonly Problem[] {
    const wrong = [...this.#wrong].map(([name, count]) => damage('document_damaged',
      `${count} stored documents break the shape of their collection.`, name))
    const unknown = this.#known.size === 0
      ? [] : [...this.#seen].filter((name) => !this.#known.has(name))
    return [...wrong, ...unknown.map((name) =>
      notice('collection_unknown', 'A collection is not known here.', name))]
  }
}

/** Histories that lie in a state, past blocks that cannot be read. */
const checkHistories = (rows: StateRows, shapes: Shapes, problems: Problem[]): void => {
  const row = rows.find({ collection: historyLost.name, id: lostId })
  const lost: unknown = row?.text === undefined || row.text === null
    ? undefined : JSON.parse(row.text)
  const source = { rows: (bounds: Bounds) => rows.rows(bounds, () => undefined) }
  const known = v.is(historyLost.schema, lost) ? lost : undefined
  problems.push(...historyProblems(source, shapes.collections, known))
}

const checkDocuments = (site: Site, trace: Trace, shapes: Shapes, problems: Problem[]): void => {
  const { files, places } = site
  for (const facts of segmentsIn(trace.manifest)) {
    const problem = fileProblem(site, facts)
    if (problem !== undefined) problems.push(problem)
  }
  const pool = new SegmentPool(files, places, 0)
  const lease = pool.lease(trace.manifest)
  const order: Order = { wrong: false }
  try {
    const runs = lease.table.runs.map((run) => inOrder((function* () {
      for (const segment of run) yield* asRecorded(segment, order, () => {
        shapes.lost = true
      })
    })(), order))
    const over = new RowSet().apply(recordsOf(trace))
    for (const row of withoutRemoved(mergeRows<Row>([over.sorted(), ...runs]))) shapes.add(row)
    checkHistories(new StateRows(lease, over), shapes, problems)
  } finally {
    lease.release()
  }
  if (order.wrong) {
    problems.push(damage('collection_misfiled',
      'A snapshot file holds rows out of their order, or another number of them.'))
  }
}

interface Looked {
  readonly found: Salvage
  readonly ended: EndedAt | undefined
  /** Whether the state is kept at a place. */
  readonly isReplica: boolean
}

/**
 * Checks manifests, logs and documents; see the head of this file. `ended` was read before the logs
 * that `found` tells of.
 */
export const checkGeneration = (
  site: Site, { found, ended, isReplica }: Looked,
  specs: readonly CollectionSpec<unknown>[], problems: Problem[],
): GenerationReport => {
  const { standing } = found
  problems.push(...manifestProblems(found))
  const shapes = new Shapes(specs)
  if (standing === undefined) {
    const text = found.newestLog === 0 ? 'There is no log.' : 'No manifest is true.'
    problems.push(damage(found.newestLog === 0 ? 'log_missing' : 'manifest_damaged', text))
    const epoch = found.newestLog === 0 ? null : found.newestLog
    return { store_id: null, epoch, sequence: null, log_records: 0, documents: 0 }
  }
  problems.push(...logProblems(standing, behindEnd(ended, standing)))
  checkDocuments(site, standing, shapes, problems)
  // What a replica lacks is fetched from its server: one that has just joined has no spare.
  if (!isReplica) {
    problems.push(...spareProblems(site, { ...found, standing }, (facts) =>
      fileProblem(site, facts) !== undefined))
  }
  problems.push(...shapes.problems())
  // Rows of an earlier format get their indexes when it is changed.
  if (standing.manifest.format_version >= formatVersion) problems.push(...shapes.indexProblems())
  return {
    store_id: standing.manifest.store_id,
    epoch: standing.logs.at(-1)?.epoch ?? null,
    sequence: standing.head.sequence,
    log_records: recordsOf(standing).length,
    documents: shapes.documents,
  }
}
