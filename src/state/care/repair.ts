/**
 * Brings a damaged state directory back to the last moment that is provably whole. It copies first
 * and says what was lost. A single flipped bit of a record is put right in its place. Documents
 * come from the newest generation; a partition or manifest that is untrue is taken from the
 * generation before and its log, which lead to the same point.
 */
import { join } from 'node:path'
import { SallyportError, fail } from '../../base/errors.js'
import { settleFolder } from './aside.js'
import { copyFile } from './copy.js'
import type { BadPart, Documents } from './documents.js'
import { applyPayload, fillPart, foundGeneration, readDocuments } from './documents.js'
import type { Files } from '../files.js'
import {
  ensureDir, ioFailure, publish, readWhole, syncDir, temporaryName, withFile, writeAll,
} from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { fileBytesMax } from '../limits.js'
import { takeLock } from '../lock.js'
import { migrateState } from './migrate.js'
import { epochText, formatVersion, keyPlaces } from '../paths.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, marksAfter, salvageAll } from './salvage.js'
import type { StateFile } from '../state-file.js'
import { decodeStateFile, encodeStateFile, tooNew } from '../state-file.js'
import { FileStore } from '../store.js'
import type { Problem, Store } from '../types.js'
import type { Site, StatePlace } from './use-case.js'
import { siteOf, stampOf } from './use-case.js'

/** What a repair could not bring back. */
export interface Loss {
  /** Sequence after which records are gone; null when none is. */
  readonly records_after: number | null
  /** Record headers seen among the lost bytes: at least so many records were there. */
  readonly records_seen: number
  readonly bytes: number
  /** Documents of partitions that no generation holds any more. */
  readonly documents: number
}

/** How to repair. */
export interface RepairOptions extends StatePlace {
  /**
   * Runs on the repaired store when acknowledged records may be lost (or an earlier repair or
   * restore ended before its hook had marked), before anyone may contact anything: the policy
   * above publishes a revoked revision, ends sessions, keeps liabilities.
   * A mark made here moves the anchor to the repaired state.
   */
  readonly onLoss?: (store: Store, loss: Loss) => void | Promise<void>
}

/** What a repair did. */
export interface RepairReport {
  readonly changed: boolean
  /** Folder with copies of what was there before, null when nothing had to change. */
  readonly copied_to: string | null
  readonly done: readonly Problem[]
  readonly loss: Loss
  readonly sequence: number
}

const noLoss: Loss = { records_after: null, records_seen: 0, bytes: 0, documents: 0 }

const note = (code: string, message: string): Problem => ({ code, severity: 'notice', message })

const beyond = (): Error =>
  fail.damaged('beyond_repair', 'No generation of this state is whole enough to start from.', {
    next: 'Restore a backup with `sallyport state restore`.',
  })

/** What is still true, put together. */
interface Plan {
  readonly state: StateFile
  readonly stateTrue: boolean
  readonly newest: SalvagedEpoch
  readonly before: SalvagedEpoch | undefined
  readonly documents: Documents
  readonly badParts: readonly BadPart[]
  readonly lostDocuments: number
  readonly rebuiltFrom: 'newest' | 'before'
}

/**
 * Repairs a state directory under its lock. `damaged`: `beyond_repair` when nothing is whole;
 * `folder_replaced` when a folder is a link, which only a person can put right.
 */
export const repairState = async (options: RepairOptions): Promise<RepairReport> => {
  const site = siteOf(options)
  const lock = site.lock(site.places.lock, site.clock)
  let report: RepairReport
  try {
    await takeLock(lock, 'state repair', site)
    try {
      report = repairLocked(site)
    } finally {
      lock.give()
    }
  } catch (error) {
    throw ioFailure(error, 'repairing the state')
  } finally {
    lock.close()
  }
  const migrated = await migrateState(options)
  if (migrated.steps.length > 0) {
    const text = `The format was brought from ${migrated.from} to ${migrated.to}.`
    report = { ...report, changed: true, done: [...report.done, note('format_changed', text)] }
  }
  const settle = isLoss(report.loss) || awaitsMark(site)
  if (settle && options.onLoss !== undefined) await runOnLoss(options, report.loss)
  return report
}

const isLoss = (loss: Loss): boolean => loss.records_after !== null || loss.documents > 0

/** An earlier repair or restore ended before the policy above published its revoked revision. */
const awaitsMark = (site: Site): boolean => {
  const manifest = salvageAll(site.files, site.places).at(-1)?.manifest
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

const repairLocked = (site: Site): RepairReport => {
  requireOwnFolders(site.files, site.dir)
  const plan = planRepair(site)
  const { newest } = plan
  const lossHere = lossOf(plan)
  const needsGeneration =
    newest.headerState !== 'true' || newest.manifest === undefined ||
    plan.badParts.length > 0 || !['clean', 'torn'].includes(newest.tail)
  const sequence = headOf(newest)?.sequence ?? 0
  const mends = [plan.before, newest].flatMap((epoch) =>
    epoch === undefined || epoch.mends.length === 0 ? [] : [epoch])
  const sound = newest.tail === 'clean' && plan.stateTrue && mends.length === 0
  if (!needsGeneration && sound) {
    return { changed: false, copied_to: null, done: [], loss: noLoss, sequence }
  }
  const done: Problem[] = []
  const copied = copyAside(site, plan)
  for (const epoch of mends) done.push(writeMends(site, epoch))
  if (!plan.stateTrue) {
    publish(site.files, site.places.state, encodeStateFile(plan.state))
    done.push(note('state_file_rebuilt', 'STATE was written again from its copy.'))
  }
  if (needsGeneration) {
    found(site, plan, lossHere)
    done.push(...generationNotes(plan, lossHere))
  } else if (newest.tail === 'torn') {
    cutTail(site.files, site.places.log(newest.epoch), newest.end)
    done.push(note('torn_tail_cut',
      `A torn last record (${newest.bytesBehind} bytes, never acknowledged) was cut.`))
  }
  if (!isLoss(lossHere)) settleFolder(site.files, copied)
  return { changed: true, copied_to: copied, done, loss: lossHere, sequence }
}

/**
 * Puts the bits back: afterwards the log is byte for byte what was written. A copy takes its place
 * by one rename, so that a crash leaves the flipped bit, which can be put right again, or none.
 */
const writeMends = ({ files, places }: Site, { epoch, mends }: SalvagedEpoch): Problem => {
  const temporary = join(places.wal, temporaryName())
  copyFile(files, places.log(epoch), temporary)
  withFile(files, temporary, 'readwrite', (fd) => {
    for (const { at, byte } of mends) writeAll(files, fd, Buffer.of(byte), at)
    files.sync(fd)
  })
  files.rename(temporary, places.log(epoch))
  syncDir(files, places.wal)
  return note('bits_mended',
    `${mends.length} untrue records of log ${epoch} had one flipped bit each, which was put right.`)
}

const cutTail = (files: Files, path: string, end: number): void =>
  withFile(files, path, 'readwrite', (fd) => {
    files.truncate(fd, end)
    files.sync(fd)
  })

const generationNotes = (plan: Plan, loss: Loss): Problem[] => {
  const notes = [note('generation_rebuilt',
    plan.rebuiltFrom === 'newest'
      ? 'A new generation was written from the newest one.'
      : 'A new generation was written from the one before and both logs.')]
  if (loss.records_after !== null) {
    notes.push(note('records_lost',
      `Everything after sequence ${loss.records_after} is lost (${loss.bytes} bytes, ` +
      `${loss.records_seen} record headers seen).`))
  }
  if (loss.documents > 0) {
    notes.push(note('documents_lost', `${loss.documents} documents are lost.`))
  }
  return notes
}

const lossOf = ({ newest, lostDocuments }: Plan): Loss => {
  const untrue = !['clean', 'torn'].includes(newest.tail)
  if (!untrue) return { ...noLoss, documents: lostDocuments }
  return {
    records_after: headOf(newest)?.sequence ?? 0,
    records_seen: newest.recordsBehind,
    bytes: newest.bytesBehind,
    documents: lostDocuments,
  }
}

/** The epoch before leads to the newest one: its records end where the newest begins. */
const leadsTo = (before: SalvagedEpoch | undefined, newest: SalvagedEpoch): boolean =>
  before?.manifest !== undefined && headOf(before)?.chain === newest.header?.base_chain &&
  before.header?.store_id === newest.header?.store_id

const documentsAt = (
  site: Site, epoch: SalvagedEpoch,
): { readonly all: Documents; readonly bad: readonly BadPart[] } => {
  if (epoch.manifest === undefined) return { all: new Map(), bad: [] }
  const { all, bad } = readDocuments(site.files, site.places, epoch.manifest)
  return { all, bad }
}

const planRepair = (site: Site): Plan => {
  const { files, places } = site
  const bytes = readWhole(files, places.state, fileBytesMax.state)
  const stateRead = bytes === undefined ? undefined : decodeStateFile(bytes)
  const epochs = salvageAll(files, places, { mend: true })
  // Files of a checkpoint that never published its log lie beyond the newest log: not looked at.
  const newest = epochs.at(-1)
  if (newest?.header === undefined) throw beyond()
  const earlier = epochs.at(-2)
  const before = leadsTo(earlier, newest) ? earlier : undefined
  if (newest.manifest === undefined && before === undefined) throw beyond()
  if (stateRead !== undefined && stateRead.store_id !== newest.header.store_id) throw beyond()
  const copy = newest.manifest?.state ?? before?.manifest?.state
  const state = stateRead ?? copy
  if (state === undefined) throw beyond()
  if (state.format_version > formatVersion) throw tooNew(state.format_version)
  const base = { state, stateTrue: stateRead !== undefined, newest, before }
  const older = before === undefined ? undefined : documentsAt(site, before)
  for (const { content } of before?.records ?? []) if (older) applyPayload(older.all, content)
  if (newest.manifest === undefined) {
    if (older === undefined) throw beyond()
    const documents = withRecords(older.all, newest)
    const lostDocuments = older.bad.reduce((sum, { documents: n }) => sum + n, 0)
    return { ...base, documents, badParts: older.bad, lostDocuments, rebuiltFrom: 'before' }
  }
  const { all, bad } = documentsAt(site, newest)
  const lostDocuments = bad.reduce(
    (sum, part) => sum + (fillPart(all, part, older) ? 0 : part.documents), 0)
  const documents = withRecords(all, newest)
  return { ...base, documents, badParts: bad, lostDocuments, rebuiltFrom: 'newest' }
}

const withRecords = (all: Documents, epoch: SalvagedEpoch): Documents => {
  for (const { content } of epoch.records) applyPayload(all, content)
  return all
}

const copyAside = ({ files, places, dir, clock }: Site, plan: Plan): string => {
  const name = `repair-${stampOf(clock)}-${epochText(plan.newest.epoch)}`
  const target = join(places.aside, name)
  ensureDir(files, places.aside)
  files.mkdir(target)
  const copyAll = (from: string, names: readonly string[]): void => {
    for (const entry of names) {
      const facts = files.stat(join(from, entry))
      if (facts?.kind === 'file') copyFile(files, join(from, entry), join(target, entry))
    }
  }
  copyAll(dir, ['STATE', 'witness.log'])
  copyAll(places.wal, files.list(places.wal))
  copyAll(places.collections, files.list(places.collections))
  syncDir(files, target)
  syncDir(files, places.aside)
  return target
}

const found = (site: Site, plan: Plan, loss: Loss): void => {
  const { newest, before, state } = plan
  const head = headOf(newest)
  if (head === undefined) throw beyond()
  const first = newest.manifest?.marks ??
    (before === undefined ? [] : marksAfter(before, before.manifest?.marks ?? []))
  const marks = marksAfter(newest, first)
  const known = newest.manifest?.mark_floor ?? before?.manifest?.mark_floor ?? 0
  const floor = isLoss(loss)
    ? Math.max(known, anchoredNumber(site, state.store_id), marks.at(-1)?.number ?? 0) + 1
    : known
  foundGeneration(site.files, site.places, plan.documents, {
    state, epoch: Math.max(newest.epoch, newest.sealedFor ?? 0) + 1, ...head,
    marks, markFloor: floor,
    nowMs: site.clock.wallMs(),
  })
}

/** The number of the anchored mark; marks after a loss are numbered above it. */
const anchoredNumber = (site: Site, storeId: string): number => {
  const path = keyPlaces(site.configDir, storeId).anchor
  try {
    const text = readWhole(site.files, path, fileBytesMax.anchor)?.toString('utf8') ?? ''
    const value: unknown = JSON.parse(text.slice(0, Math.max(0, text.lastIndexOf(' '))))
    const number = typeof value === 'object' && value !== null && 'number' in value
      ? value.number : 0
    return typeof number === 'number' && Number.isSafeInteger(number) ? number : 0
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof SallyportError) return 0
    throw error
  }
}
