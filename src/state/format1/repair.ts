/**
 * Repairs a state of format 1. What lies in its place is put right there; where a generation is
 * needed, the one that is founded has the present format.
 */
import { fail } from '../../base/errors.js'
import { settleFolder } from '../care/aside.js'
import { publishFounding } from '../care/found.js'
import { marksAfter } from '../care/log-records.js'
import { cutTail, writeMends } from '../care/mend-log.js'
import type { Loss, RepairReport } from '../care/repair-report.js'
import { isLoss, noLoss, note } from '../care/repair-report.js'
import type { Site } from '../care/use-case.js'
import { publish, readWhole } from '../files.js'
import { fileBytesMax } from '../limits.js'
import { formatVersion } from '../paths.js'
import { forgetPublishing } from '../publishing.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import type { StateFile } from '../state-file.js'
import { decodeStateFile, encodeStateFile, tooNew } from '../state-file.js'
import type { Problem } from '../types.js'
import type { BadPart, Documents } from './documents.js'
import { applyPayload, fillPart, readDocuments } from './documents.js'
import { rowsOf } from './former.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, salvageAll } from './salvage.js'

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

/** What the repair of any format does alike. */
export interface RepairHelp {
  readonly copyAside: (site: Site) => string
  /** The number of the anchored mark. */
  readonly anchoredNumber: (site: Site, storeId: string) => number
}

const beyond = (): Error =>
  fail.damaged('beyond_repair', 'No generation of this state is whole enough to start from.', {
    next: 'Restore a backup with `sallyport state restore DIR`.',
  })

/** Repairs a state of format 1; both locks must be held. */
export const repairFormat1 = (site: Site, help: RepairHelp): RepairReport => {
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
  const copied = help.copyAside(site)
  forgetPublishing(site.files, site.dir)
  for (const epoch of mends) done.push(writeMends(site, epoch.epoch, epoch.mends))
  if (!plan.stateTrue) {
    publish(site.files, site.places.state, encodeStateFile(plan.state))
    done.push(note('state_file_rebuilt', 'STATE was written again from its copy.'))
  }
  if (needsGeneration) {
    found(site, plan, lossHere, help)
    done.push(...generationNotes(plan, lossHere))
  } else if (newest.tail === 'torn') {
    cutTail(site.files, site.places.log(newest.epoch), newest.end)
    done.push(note('torn_tail_cut',
      `A torn last record (${newest.bytesBehind} bytes, never acknowledged) was cut.`))
  }
  if (!isLoss(lossHere)) settleFolder(site.files, copied)
  return { changed: true, copied_to: copied, done, loss: lossHere, sequence }
}

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
  return readDocuments(site.files, site.places, epoch.manifest)
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

const found = (site: Site, plan: Plan, loss: Loss, help: RepairHelp): void => {
  const { files, places } = site
  const { newest, before, documents } = plan
  const head = headOf(newest)
  if (head === undefined) throw beyond()
  const first = newest.manifest?.marks ??
    (before === undefined ? [] : marksAfter(before.records, before.manifest?.marks ?? []))
  const marks = marksAfter(newest.records, first)
  const known = newest.manifest?.mark_floor ?? before?.manifest?.mark_floor ?? 0
  const state = { ...plan.state, format_version: Math.max(plan.state.format_version, 2) }
  const floor = isLoss(loss)
    ? Math.max(known, help.anchoredNumber(site, state.store_id), marks.at(-1)?.number ?? 0) + 1
    : known
  // First of all, so that the program of before says from now on that it is too old.
  publish(files, places.state, encodeStateFile(state))
  const number = nextNumber(files, places)
  const written = new SegmentWriter(files, places, number).writeAll(rowsOf(documents))
  publishFounding(files, places, {
    state, number, epoch: Math.max(newest.epoch, newest.sealedFor ?? 0) + 1, ...head, format: 2,
    marks, markFloor: floor, nextRun: 2,
    runs: written.length === 0 ? [] : [{ id: 1, level: 0, files: written }],
    nowMs: site.clock.wallMs(),
  })
}
