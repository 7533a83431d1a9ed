/**
 * Folding: the records of sealed logs become one sorted run, some merging goes on, and the next
 * manifest is published by one rename. It needs no state lock, since what it reads changes no more:
 * only one process folds at a time, under the lock `fold`, which nobody waits for.
 *
 * Order: every new file, read back; their folder; the manifest, read back; and only then what is no
 * longer needed goes. What the manifest before names stays, with the logs after it, until the next.
 */
import { basename, join } from 'node:path'
import { canonicalJson } from '../../base/canonical.js'
import { isoFromMs, type Clock } from '../../base/clock.js'
import {
  isTemporary, holdsBytes, removeFile, syncDir, writeTemporary, namesIn, abandon, type Files,
} from '../files.js'
import { requireGenerationFolders } from '../folders.js'
import {
  foundingEpochs, isSnapshotName, logEpochs, manifestNumbers, segmentName, type Places,
} from '../paths.js'
import { buildSegments, type Built, type SegmentFacts } from '../segments/build.js'
import { mergeRows, withoutRemoved } from '../segments/merge.js'
import { dueMerges, levelOf } from '../segments/plan.js'
import type { Segment } from '../segments/read-segment.js'
import type { Row } from '../segments/row.js'
import { scanRun } from '../segments/table.js'
import { keptAt, type StateFile } from '../state-file.js'
import { foundingLeftovers, lostFoundings, stateIn } from './founding.js'
import type { Generation } from './generation.js'
import { letGo, loadNewest } from './load.js'
import {
  bytesOf, segmentsIn, unreadable, writeManifest, type Manifest, type Merge, type Run,
} from './manifest.js'
import { SegmentPool } from './pool.js'

interface FoldPlace {
  readonly files: Files
  readonly places: Places
  readonly clock: Clock
  readonly storeId: string
}

/** How much to do. */
export interface FoldOptions {
  /** Bytes of merged files that may be written; what is under way then goes on next time. */
  readonly mergeBytesMax: number
  /** Merge every run into one, whatever its size. */
  readonly whole?: boolean
}

/** Bytes of merged files that a closing process writes at most, beside the last file's rest. */
export const mergeBytesAtClose = 8 * 1024 * 1024

interface FoldReport {
  /** Number of the newest manifest. */
  readonly number: number
  readonly published: boolean
  /** Whether a merge is under way or due. */
  readonly unfinished: boolean
  readonly bytesWritten: number
}

/** Writes segment files under names that no manifest has used, and counts their bytes. */
export class SegmentWriter {
  readonly #files: Files
  readonly #places: Places
  readonly #number: number
  /** Paths of this number, each once; of one that is under way the temporary one. */
  readonly #written: string[] = []
  bytesWritten = 0

  constructor(files: Files, places: Places, number: number) {
    this.#files = files
    this.#places = places
    this.#number = number
  }

  /** Does what uses the files; where that fails, they are given up. */
  whole<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.giveUp()
      throw error
    }
  }

  /** Writes one file and reads it back; the caller syncs the folder. A failure gives all up. */
  write(built: Built): SegmentFacts {
    return this.whole(() => this.#put(built))
  }

  #put({ bytes, facts }: Built): SegmentFacts {
    const name = segmentName(this.#number, this.#written.length + 1)
    const path = this.#places.segment(name)
    const temporary = writeTemporary(this.#files, this.#places.collections, bytes)
    this.#written.push(temporary)
    if (!holdsBytes(this.#files, temporary, bytes)) throw unreadable()
    this.#files.rename(temporary, path)
    this.#written.splice(-1, 1, path)
    this.bytesWritten += bytes.length
    return { ...facts, name }
  }

  /**
   * Gives back what was written, where no manifest came of it that may name it: on a full disk the
   * room may be what a stop needs.
   */
  giveUp(): void {
    if (this.#mayBeNamed()) return
    abandon(this.#files, this.#written)
  }

  #mayBeNamed(): boolean {
    try {
      return this.#files.stat(this.#places.manifest(this.#number)) !== undefined
    } catch {
      return true
    }
  }

  /** Writes a whole run; memory is bounded by one file. */
  writeAll(rows: Iterable<Row>): SegmentFacts[] {
    const written: SegmentFacts[] = []
    for (const built of buildSegments(rows)) written.push(this.write(built))
    return written
  }
}

interface Work {
  runs: Run[]
  merges: Merge[]
  nextRun: number
  readonly writer: SegmentWriter
  readonly segmentsOf: (run: Run) => readonly Segment[]
}

/** The rows of the sealed logs as the newest run. */
const foldLogs = (generation: Generation, work: Work): void => {
  const { header } = generation.log ?? {}
  if (header === undefined || generation.epoch === generation.manifest.epoch + 1) return
  const rows = generation.rowsUpTo(header.base_sequence)
  const files = work.writer.writeAll(work.runs.length === 0 ? withoutRemoved(rows) : rows)
  if (files.length === 0) return
  const level = levelOf(bytesOf({ files }), 0, work.runs[0]?.level)
  work.runs.unshift({ id: work.nextRun, level, files })
  work.nextRun += 1
}

const isBusy = ({ merges }: Work): ReadonlySet<number> =>
  new Set(merges.flatMap(({ inputs }) => inputs))

const sizesOf = ({ runs }: Work): { id: number; level: number; bytes: number }[] =>
  runs.map((run) => ({ id: run.id, level: run.level, bytes: bytesOf(run) }))

const begun = (level: number, inputs: readonly number[]): Merge =>
  ({ level, inputs: [...inputs], files: [], after: null })

/** Merges that nobody has begun yet. */
const beginMerges = (work: Work): void => {
  for (const { level, inputs } of dueMerges(sizesOf(work), isBusy(work))) {
    work.merges.push(begun(level, inputs))
  }
  work.merges.sort((a, b) => a.level - b.level)
}

/** One merge of all runs, unless there is one run only and nothing to leave out of it. */
const beginWhole = (work: Work): void => {
  const inputs = work.runs.map(({ id }) => id)
  const [only, ...others] = work.runs
  if (only === undefined) return
  const removed = only.files.some((file) => file.removed > 0)
  const isOne = others.length === 0 && !removed
  const { merges: [under] } = work
  if (isOne || (under?.inputs.length === inputs.length && work.merges.length === 1)) return
  work.merges = [begun(Math.max(...work.runs.map(({ level }) => level)), inputs)]
}

/** The rows of a merge that are still to be written. */
const restOf = (merge: Merge, work: Work): Iterable<Row> => {
  const inputs = work.runs.filter(({ id }) => merge.inputs.includes(id))
  const [collection, id] = merge.after ?? []
  const bounds = collection === undefined || id === undefined
    ? {} : { low: { collection, id }, lowOpen: true }
  const rows = mergeRows(inputs.map((run) => scanRun(work.segmentsOf(run), bounds)))
  const isLast = work.runs.at(-1)?.id === inputs.at(-1)?.id
  return isLast ? withoutRemoved(rows) : rows
}

/** Puts the result of a merge in the place of what it was made of. */
const finishMerge = (merge: Merge, work: Work): void => {
  const at = work.runs.findIndex(({ id }) => id === merge.inputs[0])
  const { files } = merge
  const older = work.runs[at + merge.inputs.length]
  const level = levelOf(bytesOf(merge), merge.level, older?.level)
  const result = files.length === 0 ? [] : [{ id: work.nextRun, level, files }]
  work.nextRun += 1
  work.runs.splice(at, merge.inputs.length, ...result)
  work.merges = work.merges.filter((one) => one !== merge)
}

/** Goes on with a merge, file by file, until it is done or enough is written; true when done. */
const goOn = (merge: Merge, work: Work, bytesMax: number): boolean => {
  const from = work.writer.bytesWritten
  const built = buildSegments(restOf(merge, work))
  for (let next = built.next(); next.done !== true; next = built.next()) {
    merge.files.push(work.writer.write(next.value))
    merge.after = [...next.value.facts.last]
    if (work.writer.bytesWritten - from < bytesMax) continue
    built.return(undefined)
    return false
  }
  return true
}

const advanceMerges = (work: Work, { mergeBytesMax, whole = false }: FoldOptions): void => {
  const from = work.writer.bytesWritten
  if (whole) beginWhole(work)
  for (;;) {
    if (!whole) beginMerges(work)
    const [merge] = work.merges
    const left = mergeBytesMax - (work.writer.bytesWritten - from)
    if (merge === undefined || left <= 0) return
    if (goOn(merge, work, left)) finishMerge(merge, work)
    else return
  }
}

/** Number for the next manifest: above every name there is, whatever the file holds. */
export const nextNumber = (files: Files, places: Places): number =>
  1 + Math.max(0, ...manifestNumbers(namesIn(files, places.collections)),
    ...lostFoundings(files, places).map(({ number }) => number))

/**
 * The copy of STATE, which tells as STATE does where the truth lies by now: a lost STATE is rebuilt
 * from it, also that of a state that was taken back.
 */
const copyOfState = ({ files, places }: FoldPlace, copy: StateFile): StateFile => {
  const now = stateIn(files, places)
  return now === undefined ? copy : keptAt(copy, now.kept_in)
}

/** The manifest after what was done; the one before where nothing was. */
const manifestOf = (
  place: FoldPlace, generation: Generation, number: number, work: Work,
): Manifest => {
  const { manifest, log, epoch } = generation
  const { base_sequence: sequence = 0, base_chain: chain = '' } = log?.header ?? {}
  return {
    ...manifest,
    number,
    epoch: epoch - 1,
    founding: false,
    sequence,
    chain,
    marks: generation.marks.filter((mark) => mark.sequence <= sequence).slice(-2),
    written_at: isoFromMs(place.clock.wallMs()),
    state: copyOfState(place, manifest.state),
    next_run: work.nextRun,
    runs: work.runs,
    merges: work.merges,
  }
}

const workOn = (
  place: FoldPlace, generation: Generation, number: number, pool: SegmentPool,
): Work & { readonly end: () => void } => {
  const { manifest } = generation
  const extra: (() => void)[] = []
  const known = new Map<string, Segment>()
  for (const segment of generation.lease.table.runs.flat()) known.set(segment.facts.name, segment)
  const segmentOf = (facts: SegmentFacts): Segment => {
    const open = known.get(facts.name)
    if (open !== undefined) return open
    const lease = pool.lease({ runs: [{ id: 0, level: 0, files: [facts] }] })
    extra.push(lease.release)
    const [segment] = lease.table.runs.flat()
    if (segment === undefined) throw new TypeError('a run without its file')
    known.set(facts.name, segment)
    return segment
  }
  return {
    runs: [...manifest.runs],
    merges: manifest.merges.map((merge) => ({ ...merge, files: [...merge.files] })),
    nextRun: manifest.next_run,
    writer: new SegmentWriter(place.files, place.places, number),
    segmentsOf: (run) => run.files.map(segmentOf),
    end: () => {
      for (const release of extra) release()
    },
  }
}

/**
 * Folds sealed logs and merges within bounds; the lock `fold` must be held. Does nothing where the
 * newest manifest or a log is damaged: that is for a repair. Throws disk errors; what was published
 * before stays in use.
 */
export const fold = (place: FoldPlace, options: FoldOptions): FoldReport => {
  const { files, places, storeId } = place
  requireGenerationFolders(files, places)
  const pool = new SegmentPool(files, places, 0)
  const { generation, damage } = loadNewest({ files, places, pool, storeId })
  const { manifest } = generation
  const number = nextNumber(files, places)
  const work = workOn(place, generation, number, pool)
  try {
    const idle = { number: manifest.number, published: false, unfinished: false, bytesWritten: 0 }
    if (damage !== undefined || !['clean', 'torn'].includes(generation.tail)) return idle
    foldLogs(generation, work)
    advanceMerges(work, options)
    const unfinished = work.merges.length > 0
    const next = manifestOf(place, generation, number, work)
    const same = canonicalJson([next.runs, next.merges, next.epoch]) ===
      canonicalJson([manifest.runs, manifest.merges, manifest.epoch])
    if (same) return { ...idle, unfinished }
    syncDir(files, places.collections)
    // Whoever renamed the newest log into place may have died before its name was safe.
    syncDir(files, places.wal)
    writeManifest(files, places.manifest(number), next)
    sweep(files, places, next, manifest)
    return { number, published: true, unfinished, bytesWritten: work.writer.bytesWritten }
  } catch (error) {
    work.writer.giveUp()
    throw error
  } finally {
    work.end()
    letGo(generation)
  }
}

/**
 * Removes what neither of two manifests needs: other manifests, their files, logs that the older of
 * the two includes, and leftovers. Only files go, and only under names that this program makes.
 */
export const sweep = (files: Files, places: Places, newest: Manifest, before: Manifest): number => {
  requireGenerationFolders(files, places)
  const kept = [newest, before]
  const named = new Set(kept.flatMap(segmentsIn).map(({ name }) => name))
  for (const { number } of kept) named.add(basename(places.manifest(number)))
  const isOurs = (name: string): boolean =>
    isSnapshotName(name) || isTemporary(name) || manifestNumbers([name]).length > 0
  const inFolder = files.list(places.collections)
    .filter((name) => isOurs(name) && !named.has(name))
    .sort((a, b) => Number(b.startsWith('manifest.')) - Number(a.startsWith('manifest.')))
    .map((name) => join(places.collections, name))
  const inWal = files.list(places.wal)
  const isPast = (epoch: number): boolean => epoch <= before.epoch
  const logs = [
    ...logEpochs(inWal).filter(isPast).map((epoch) => places.log(epoch)),
    ...foundingEpochs(inWal).filter(isPast).map((epoch) => places.founding(epoch)),
  ]
  // Last: they tell of manifests that never came into force.
  const cutOff = foundingLeftovers(files, places).keys()
  let removed = 0
  for (const path of [...inFolder, ...logs, ...cutOff]) {
    if (files.stat(path)?.kind !== 'file') continue
    removeFile(files, path)
    removed += 1
  }
  if (removed > 0) for (const folder of [places.wal, places.collections]) syncDir(files, folder)
  return removed
}
