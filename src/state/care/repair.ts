/**
 * Brings a damaged state directory back to the last moment that is provably whole. It copies first
 * and says what was lost. What digests tell is put right in its place: a flipped bit of a record or
 * of a block, an index, a filter. Rows come from the newest manifest and its logs; those of a block
 * that is untrue are taken from the manifest before, where that leads to the same point.
 */
import { basename, join } from 'node:path'
import { SallyportError, fail } from '../../base/errors.js'
import { settleFolder, unsettledFolder } from './aside.js'
import { copyFile } from './copy.js'
import { goneText, readEnd, tornText, truncateBehind } from '../ended-at.js'
import { publish, readWhole, type Files } from '../files.js'
import { whileAlone } from '../fold-lock.js'
import { ensureStateFolders, requireOwnFolders } from '../folders.js'
import { publishFounding } from './found.js'
import { fileBytesMax } from '../limits.js'
import { numberTold } from '../anchor-slots.js'
import { marksAfter } from './log-records.js'
import { truncateTail, writeMends } from './mend-log.js'
import { mendedSegment, writeMended } from './mend-segment.js'
import { migrateState } from './migrate.js'
import { formatVersion, isSnapshotName, keyPlaces, type Places } from '../paths.js'
import { areIndexed, reindex, type Layout } from './reindex.js'
import { putAside } from './put-aside.js'
import { rebuiltState } from './rebuilt-state.js'
import { isLoss, noLoss, note, type Loss, type RepairReport } from './repair-report.js'
import { badFiles, gather, soundRuns, type Gathered } from './all-rows.js'
import { recordsOf, salvage, type Salvage, type Trace } from './salvage.js'
import { forgetArrivals } from '../arrivals.js'
import type { Row } from '../segments/row.js'
import type { Segment } from '../segments/read-segment.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import { firstManifest, publishFounded } from '../snapshot/founding.js'
import { putManifest, segmentsIn } from '../snapshot/manifest.js'
import { settleVouched } from './settle-vouched.js'
import {
  encodeStateFile, looseStateFile, requireKnownFormat, type StateFile,
} from '../state-file.js'
import { FileStore } from '../file-store.js'
import type { Problem, Store } from '../types.js'
import { careFailure, replaceUnreadable } from './unreadable.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'

export type { Loss, RepairReport } from './repair-report.js'

interface RepairOptions extends StatePlace, Layout {
  /**
   * Runs on the repaired store when acknowledged records may be lost (or an earlier repair or
   * restore ended before its hook had marked), before anyone may contact anything: the policy
   * above publishes a revoked revision, ends sessions, keeps liabilities.
   * A mark made here moves the anchor to the repaired state.
   */
  readonly onLoss?: (store: Store, loss: Loss) => void | Promise<void>
  /** Files below the state directory of which what cannot be read counts as lost. */
  readonly lost?: readonly string[] | undefined
  /**
   * Of a replica that knows so many records: why its place does not give all of them, or null. What
   * cannot be mended is not lost then: the replica is emptied, for whoever repairs to fetch it.
   */
  readonly unplaced?: ((records: number) => Error | null) | undefined
}

const beyond = (): Error =>
  fail.damaged('beyond_repair', 'No generation of this state is whole enough to start from.', {
    next: 'Restore a backup with `sallyport state restore DIR`.',
  })

/**
 * Repairs a state directory under its lock. `damaged`: `beyond_repair` when nothing is whole;
 * `folder_replaced` when a folder is a link, which only a person can put right. `blocked`
 * `state_too_old` for a format that no step leads on from, before anything is touched. `failed`
 * where the disk does not give back what a file holds: nothing counts as lost because of that but
 * what `lost` names; see `unreadable.ts`.
 */
export const repairState = async (options: RepairOptions): Promise<RepairReport> => {
  const site = siteOf(options)
  try {
    return await repairThenSettle(site, options)
  } catch (error) {
    throw careFailure(error, 'repairing the state', site)
  }
}

/** Repairs under the locks; answers what was done. */
const repairUnderLock = async (site: Site, options: RepairOptions): Promise<RepairReport> => {
  const { lost = [] } = options
  // A format that no step leads on from is refused before anything is touched, a lock's text too.
  if (!lost.includes('STATE')) looseStateFile(site.files, site.places.state)
  return whileAlone(site, 'state repair', () => {
    requireOwnFolders(site.files, site.dir)
    const given = replaceUnreadable(site, lost)
    const report = repairLocked(site, options, options)
    settleVouched(site)
    const changed = report.changed || given.length > 0
    return { ...report, changed, done: [...given, ...report.done] }
  })
}

const repairThenSettle = async (site: Site, options: RepairOptions): Promise<RepairReport> => {
  let report = await repairUnderLock(site, options)
  const migrated = await migrateState(options)
  if (migrated.steps.length > 0) {
    const text = `The format was brought from ${migrated.from} to ${migrated.to}.`
    report = { ...report, changed: true, done: [...report.done, note('format_changed', text)] }
  }
  const awaits = awaitsMark(site)
  if (awaits && !isLoss(report.loss)) report = withEarlier(site, report)
  const settle = isLoss(report.loss) || awaits
  if (settle && options.onLoss !== undefined) await runOnLoss(options, report.loss)
  return report
}

/** The report with what an earlier repair lost, or an earlier restore replaced, and never told. */
const withEarlier = (site: Site, report: RepairReport): RepairReport => {
  const earlier = unsettledFolder(site.dir, site.files)
  const text = 'An earlier repair or restore had ended before the consequences of what it lost or '
    + 'replaced were written; they are now.'
  return {
    ...report, changed: true, done: [...report.done, note('earlier_loss_settled', text)],
    ...(earlier === undefined ? {} : {
      copied_to: report.copied_to ?? earlier.path, loss: lossIn(site.files, earlier),
    }),
  }
}

/** What a repair lost of the state that it put aside; a restore loses nothing of what it has. */
const lossIn = (
  files: Files, { path, places }: { readonly path: string; readonly places: Places },
): Loss => {
  const found = salvage(files, places, { mend: true })
  const { standing } = found
  if (standing === undefined || !basename(path).startsWith('repair-')) return noLoss
  const gathered = gather(files, places, { ...found, standing })
  try {
    return lossOf(standing, gathered)
  } finally {
    gathered.rows.close()
  }
}

/** An earlier repair or restore ended before the policy above published its revoked revision. */
const awaitsMark = (site: Site): boolean => {
  // A replica writes no record of its own: whoever settles for it does so at the place.
  if (looseStateFile(site.files, site.places.state)?.kept_in === 'place') return false
  const manifest = salvage(site.files, site.places).standing?.manifest
  if (manifest === undefined || manifest.mark_floor === 0) return false
  return anchoredNumber(site, manifest.store_id) <= manifest.mark_floor
}

const runOnLoss = async (options: RepairOptions, loss: Loss): Promise<void> => {
  // What was lost is lost by now: a stop may not keep its consequences from being written.
  const store = new FileStore({ ...options, signal: undefined, mode: 'write' })
  store.rebasing = true
  try {
    await options.onLoss?.(store, loss)
  } finally {
    store.close()
  }
}

type Emptying = Pick<RepairOptions, 'unplaced'>

const repairLocked = (site: Site, layout: Layout, emptying: Emptying): RepairReport => {
  const found = salvage(site.files, site.places, { mend: true })
  const replica = found.standing === undefined ? replicaAt(site) : undefined
  if (replica !== undefined) return emptiedWhole(site, replica, found, emptying)
  const plan = planRepair(site, found)
  const { trace } = plan
  const done: Problem[] = ensureStateFolders(site.files, site.places)
    .map((folder) => note('folder_made', `The folder ${folder} was gone; it was made again.`))
  const mended = mendable(site, trace)
  const mends = trace.logs.filter((log) => log.mends.length > 0)
  const isTorn = trace.logs.at(-1)?.tail === 'torn'
  const { remade } = found
  const work = mended.size + mends.length + remade.length > 0 || !plan.stateTrue || isTorn
  const made = done.length
  done.push(...endNotes(site, plan))
  if (!work && isWhole(site, plan, layout)) {
    const { sequence } = trace.head
    return { changed: made > 0, copied_to: null, done, loss: noLoss, sequence }
  }
  const copied = copyAside(site)
  forgetArrivals(site.files, site.dir)
  for (const log of mends) done.push(writeMends(site, log.epoch, log.mends))
  for (const [name, bytes] of mended) writeMended(site.files, site.places, name, bytes)
  for (const one of remade) putManifest(site.files, site.places.manifest(one.number), one)
  const put = mended.size + remade.length
  if (put > 0) done.push(note('files_mended', `${put} snapshot files were mended.`))
  if (!plan.stateTrue) {
    publish(site.files, site.places.state, encodeStateFile(plan.state))
    done.push(note('state_file_rebuilt', 'STATE was written again from its copy.'))
  }
  const loss = foundOrTruncate(site, plan, { ...layout, ...emptying }, done)
  if (!isLoss(loss)) settleFolder(site.files, copied)
  return { changed: true, copied_to: copied, done, loss, sequence: trace.head.sequence }
}

/** Whether nothing but files in their place has to be put right. */
const needsGeneration = ({ trace, found }: Plan, { lost }: Gathered, bad: number): boolean =>
  trace.logs.some(({ headerState }) => headerState !== 'true') || trace.broken !== null ||
  trace.orphan !== null ||
  bad > 0 || lost.length > 0 || (found.untrue.at(-1) ?? 0) > trace.manifest.number

/** Whether the indexes are right; a state of an earlier format has none. */
const isIndexed = ({ trace }: Plan, { rows }: Gathered, layout: Layout): boolean =>
  trace.manifest.format_version < formatVersion ||
  areIndexed(rows.rows({}, () => undefined), layout)

/** Whether every row can be read and nothing is broken. */
const isWhole = (site: Site, plan: Plan, layout: Layout): boolean => {
  const gathered = gather(site.files, site.places, plan.found)
  const bad = badFiles(gathered).size
  const whole = !needsGeneration(plan, gathered, bad) && isIndexed(plan, gathered, layout)
  gathered.rows.close()
  return whole
}

/**
 * What is known to have been behind records that end without a break: whether somebody had been
 * answered for it. A new generation leaves nothing by which it could be told later. Of a replica
 * its place has all that anybody was answered for.
 */
const endNotes = (site: Site, { state, trace }: Plan): readonly Problem[] => {
  const { files, places } = site
  const { head: { sequence }, broken, logs, manifest } = trace
  const last = logs.at(-1)
  if (last === undefined || broken !== null) return []
  const behind = truncateBehind(readEnd(files, places), { epoch: last.epoch, sequence })
  const notes = last.tail === 'torn' ? [note('torn_tail_cut',
    `A torn last record (${last.bytesBehind} bytes) was cut: ${tornText(sequence, behind)}.`)] : []
  if (state.kept_in === 'place') return notes
  if (behind !== undefined && notes.length === 0) {
    notes.push(note('log_cut', `The log was cut: ${goneText(sequence, behind)}.`))
  }
  const mark = Math.max(manifest.mark_floor,
    marksAfter(recordsOf(trace), manifest.marks).at(-1)?.number ?? 0)
  if (anchoredNumber(site, state.store_id) > mark) {
    notes.push(note('anchor_behind', 'The anchor names a mark that is in no record here: what was '
      + 'acknowledged with it is gone.'))
  }
  return notes
}

/** Writes a new generation where one is needed; else a torn end is cut. Answers what is lost. */
const foundOrTruncate = (
  site: Site, plan: Plan, layout: Layout & Emptying, done: Problem[],
): Loss => {
  const { files, places } = site
  const gathered = gather(files, places, plan.found)
  try {
    const bad = badFiles(gathered)
    const last = plan.trace.logs.at(-1)
    const isNeeded = needsGeneration(plan, gathered, bad.size)
    if (isNeeded || !isIndexed(plan, gathered, layout)) {
      const loss = lossOf(plan.trace, gathered)
      if (isLoss(loss) && plan.state.kept_in === 'place') {
        done.push(emptied(site, plan.state, plan.found, layout, lastSeen(plan.trace)))
        return noLoss
      }
      const corrected = found(site, plan, gathered, bad, loss, layout)
      if (isNeeded) done.push(...generationNotes(plan, gathered, loss))
      if (corrected > 0) {
        const what = `${corrected} entries of indexes and counts were put right.`
        done.push(note('indexes_rebuilt', what))
      }
      return loss
    }
    if (last?.tail === 'torn') truncateTail(files, places.log(last.epoch), last.end)
    return noLoss
  } finally {
    gathered.rows.close()
  }
}

/**
 * The highest number of a record that was here. A log that begins behind an emptied replica has
 * those again that older logs have; the record that seals a log has none.
 */
const lastSeen = ({ head, logs, behind }: Trace): number => {
  const all = [...logs.slice(-1), ...behind]
  const seen = all.flatMap(({ header, records, recordsBehind, evidence }, at) => {
    const shown = evidence.findLast(({ content }) => content.next_epoch === undefined)
    const isSealed = at < all.length - 1 || (evidence.length > 0 && evidence.at(-1) !== shown)
    const counted = records.length + recordsBehind - (isSealed && recordsBehind > 0 ? 1 : 0)
    return [shown?.sequence ?? 0, header === undefined ? 0 : header.base_sequence + counted]
  })
  return Math.max(head.sequence, ...seen)
}

/** STATE of a replica, where it is true. */
const replicaAt = ({ files, places }: Site): StateFile | undefined => {
  const state = looseStateFile(files, places.state)
  return state?.kept_in === 'place' ? state : undefined
}

/** A generation of nothing, above every other one. */
const emptied = (
  { files, places }: Site, state: StateFile, { newestLog }: Salvage,
  { unplaced }: Emptying, known: number,
): Problem => {
  const why = unplaced?.(known) ?? null
  if (why !== null) throw why
  publishFounded(files, places,
    { ...firstManifest(state), number: nextNumber(files, places), epoch: newestLog })
  return note('replica_emptied',
    'What this machine had of the state was damaged; its server has all of it.')
}

/** A replica of which no generation is whole. */
const emptiedWhole = (
  site: Site, state: StateFile, found: Salvage, emptying: Emptying,
): RepairReport => {
  const copied = copyAside(site)
  forgetArrivals(site.files, site.dir)
  const done = [emptied(site, state, found, emptying, 0)]
  settleFolder(site.files, copied)
  return { changed: true, copied_to: copied, done, loss: noLoss, sequence: 0 }
}

/** Files that can be put right in their place, and their bytes. */
const mendable = ({ files, places }: Site, { manifest }: Trace): ReadonlyMap<string, Buffer> => {
  const mended = new Map<string, Buffer>()
  for (const facts of segmentsIn(manifest)) {
    const bytes = mendedSegment(files, places, facts)
    if (bytes !== undefined) mended.set(facts.name, bytes)
  }
  return mended
}

const rangesShown = 5
const idShown = 60

/** An id as it may stand in a message: those of other forms are told by their collection only. */
const idText = (id: string): string => {
  const plain = id.replace('\u0000', '')
  return /^[\w.:/-]+$/.test(plain) ? plain.slice(0, idShown) : '…'
}

/** Which rows are gone: the first ranges of ids. */
const rangesText = ({ lost }: Gathered): string =>
  lost.slice(0, rangesShown).map(({ from, to }) =>
    `${from.collection} ${idText(from.id)} to ` +
    `${to === undefined ? 'the end' : `${to.collection} ${idText(to.id)}`}`).join('; ')

const generationNotes = ({ trace, found }: Plan, gathered: Gathered, loss: Loss): Problem[] => {
  const isNewest = (found.untrue.at(-1) ?? 0) < trace.manifest.number
  const notes = [note('generation_rebuilt', isNewest
    ? 'A new generation was written from the newest one.'
    : 'A new generation was written from the one before and both logs.')]
  if (loss.records_after !== null) {
    notes.push(note('records_lost',
      `Everything after sequence ${loss.records_after} is lost (${loss.bytes} bytes, ` +
      `${loss.records_seen} record headers seen).`))
  }
  if (loss.documents > 0) {
    notes.push(note('documents_lost', `${loss.documents} documents are lost, in ` +
      `${gathered.lost.length} ranges of ids: ${rangesText(gathered)}.`))
  }
  return notes
}

const lossOf = (trace: Trace, { lostRows }: Gathered): Loss => {
  if (trace.broken === null) return { ...noLoss, documents: lostRows }
  const last = trace.logs.at(-1)
  const own = last?.epoch === trace.broken.epoch ? [last] : []
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
  return {
    records_after: trace.head.sequence,
    records_seen: sum([...own.map((log) => log.recordsBehind),
      ...trace.behind.map((log) => log.records.length + log.recordsBehind)]),
    bytes: sum([...own.map((log) => log.bytesBehind),
      ...trace.behind.map((log) => log.end + log.bytesBehind)]),
    documents: lostRows,
  }
}

/** What is still true, put together. */
interface Plan {
  readonly state: StateFile
  readonly stateTrue: boolean
  readonly trace: Trace
  readonly found: Salvage & { readonly standing: Trace }
}

const planRepair = (site: Site, found: Salvage): Plan => {
  const { files, places } = site
  const { standing } = found
  if (standing === undefined) throw beyond()
  const stateRead = looseStateFile(files, places.state)
  if (stateRead !== undefined && stateRead.store_id !== standing.manifest.store_id) throw beyond()
  const copy = standing.manifest.state
  const keysAt = keyPlaces(site.configDir, copy.store_id)
  const state = stateRead ?? rebuiltState(files, keysAt.dir, copy)
  requireKnownFormat(state.format_version)
  requireKnownFormat(standing.manifest.format_version)
  return {
    state, stateTrue: stateRead !== undefined, trace: standing, found: { ...found, standing },
  }
}

/** Copies what is there into a folder of its own. Snapshot files never change: a link is a copy. */
const copyAside = (site: Site): string => putAside(site, 'repair', (folder) => {
  const { files, places, dir } = site
  const copyAll = (from: string, names: readonly string[]): void => {
    for (const entry of names) {
      const facts = files.stat(join(from, entry))
      if (facts?.kind !== 'file') continue
      if (isSnapshotName(entry)) files.link(join(from, entry), join(folder, entry))
      else copyFile(files, join(from, entry), join(folder, entry))
    }
  }
  copyAll(dir, ['STATE', 'witness.log'])
  copyAll(places.wal, files.list(places.wal))
  copyAll(places.collections, files.list(places.collections))
})

/** Publishes what is still true as a new generation; answers how many entries were put right. */
const found = (
  site: Site, plan: Plan, { rows }: Gathered, bad: ReadonlyMap<string, Segment>, loss: Loss,
  layout: Layout,
): number => {
  const { files, places, clock } = site
  const { trace, state, found: { newestLog } } = plan
  const { manifest } = trace
  const number = nextNumber(files, places)
  const writer = new SegmentWriter(files, places, number)
  const runs = soundRuns(manifest.runs, bad, writer)
  const own: readonly Row[] = rows.over.sorted()
  const first = own.length === 0 ? [] : writer.writeAll(own)
  const marks = marksAfter(recordsOf(trace), manifest.marks)
  const floor = isLoss(loss)
    ? Math.max(manifest.mark_floor, anchoredNumber(site, state.store_id),
        marks.at(-1)?.number ?? 0) + 1
    : manifest.mark_floor
  const all = [
    ...(first.length === 0 ? [] : [{ id: manifest.next_run, level: 0, files: first }]), ...runs,
  ]
  const nextRun = manifest.next_run + 1
  const isOld = manifest.format_version < formatVersion
  const indexed = isOld ? { runs: all, nextRun, corrected: 0 }
    : reindex(files, places, all, nextRun, layout, writer)
  writer.whole(() => publishFounding(files, places, {
    state, number, ...trace.head, marks, markFloor: floor, format: manifest.format_version,
    // The next number, that of a lost log too: whoever is open on the one before looks for it.
    epoch: newestLog + 1,
    nextRun: indexed.nextRun, runs: indexed.runs, nowMs: clock.wallMs(),
  }))
  return indexed.corrected
}

/** The number of the anchored mark; marks after a loss are numbered above it. */
const anchoredNumber = (site: Site, storeId: string): number => {
  const path = keyPlaces(site.configDir, storeId).anchor
  try {
    const bytes = readWhole(site.files, path, fileBytesMax.anchor)
    return bytes === undefined ? 0 : numberTold(bytes)
  } catch (error) {
    if (error instanceof SallyportError) return 0
    throw error
  }
}
