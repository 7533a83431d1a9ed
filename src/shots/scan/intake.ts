/**
 * The files that a scan reads: one read each, a few images with the workers at a time, and batches
 * in the order of reading. What is held in memory is bounded in bytes, not in files.
 */
import type { Examined } from '../../images/types.js'
import { shotLimits } from '../constants.js'
import { capturedAtOf } from './captured-at.js'
import { fileNameOf } from './names.js'
import { readOnce, type ReadFacts } from './read-once.js'
import type { Counted } from './tally.js'
import type { Examiner, TakenFile } from './types.js'

/** Files whose rows go into one record. */
const batchFiles = 50
/** Bytes of images that may be with the workers or wait for them. */
const aheadBytesMax = 48_000_000
const aheadFilesMax = 8

/** What the intake works with. */
export interface IntakeWorld {
  readonly folder: string
  readonly examiner: Examiner
  /** The file with what comparing it told; its bytes are let go afterwards. */
  confirm(taken: TakenFile, bytes: Uint8Array): Promise<TakenFile>
  /** Wall time, milliseconds. */
  nowMs(): number
  /** Announces a step; what it throws ends the scan. */
  at(step: string): void | Promise<void>
  /** Told that a file was read. */
  read(): void
  /** Waits for a file that is being written; may end with the scan's signal. */
  settle(): Promise<void>
  /** True once somebody asked the program to stop. */
  stopped(): boolean
  /** Writes a batch; false when no more can be written. */
  commit(files: readonly TakenFile[]): Promise<boolean>
}

/** A file to be read: its number in the walk and its path below the folder, latin1. */
export interface Candidate {
  readonly file: number
  readonly name: string
  /** Its taking is written down as soon as no other such file is under way. */
  readonly isUrgent: boolean
}

/** What waits to be read. */
export interface Waiting {
  readonly waiting: number
  next(): Candidate | null
  /** It is still being written: it goes on waiting, for the end of the scan or a notice. */
  postpone(candidate: Candidate): void
  /** The next of those that were postponed. */
  nextPostponed(): Candidate | null
}

/** What the intake leaves: files that were put off, and how many were never begun. */
export interface IntakeEnd {
  readonly deferred: readonly Counted[]
  /** Taken files of the last batch, to be written with the receipt. */
  readonly last: readonly TakenFile[]
  readonly overLimit: number
  /** Files that were begun or waited when writing failed or the stop came. */
  readonly cutOff: number
  /** Files that were still being written: of `deferred`, to be looked at again. */
  readonly unfinished: readonly Candidate[]
}

interface Ahead {
  readonly candidate: Candidate
  readonly facts: ReadFacts
  readonly refused: string | null
  /** None where the file was refused unread. */
  readonly bytes: Uint8Array
  readonly examined: Promise<Examined | null>
}

const takenOf = (
  { candidate, facts, refused }: Ahead, examined: Examined | null, nowMs: number,
): TakenFile => ({
  file: candidate.file,
  name: fileNameOf(candidate.name),
  bytes: facts.bytes,
  modifiedNs: String(facts.modifiedNs),
  changedNs: String(facts.changedNs),
  inode: String(facts.inode),
  stamp: facts.stamp,
  capturedAt: capturedAtOf(facts.modifiedNs),
  inFuture: Number(facts.modifiedNs / 1_000_000n) > nowMs,
  sha256: examined?.sha256 ?? null,
  format: examined?.facts.format ?? null,
  width: examined?.facts.width ?? null,
  height: examined?.facts.height ?? null,
  fingerprint: examined?.fingerprint ?? null,
  refused: refused ?? (examined?.facts.format === null
    ? (examined.facts.reason ?? 'not_an_image') : (examined?.facts.reason ?? null)),
  flaw: examined?.reason ?? null,
  confirmed: null,
})

/** One scan's intake. */
export class Intake {
  readonly #deferred: Counted[] = []
  readonly #ahead: Ahead[] = []
  readonly #unfinished: Candidate[] = []
  #batch: TakenFile[] = []
  #aheadBytes = 0
  /** Whether the batch holds a file that is to be written down soon. */
  #urgent = false
  #left: number
  #cutOff = 0
  #writing = true

  /** `limit`: files that may be read for the first time. */
  constructor(readonly world: IntakeWorld, limit: number) {
    this.#left = limit
  }

  /** Reads what waits, as far as the limit goes. */
  async run(waiting: Waiting): Promise<IntakeEnd> {
    try {
      return await this.#all(waiting)
    } finally {
      // Nobody ends the workers while they hold an image: none is left behind, failed or not.
      await Promise.allSettled(this.#ahead.map(({ examined }) => examined))
    }
  }

  async #all(waiting: Waiting): Promise<IntakeEnd> {
    await this.#each(() => waiting.next(), (candidate) => waiting.postpone(candidate))
    await this.#drainTo(0)
    // What waits although there is room was postponed.
    if (this.#hasRoom() && waiting.waiting > 0) await this.world.settle().catch(() => undefined)
    await this.#each(() => waiting.nextPostponed(), (candidate) => this.#leave(candidate))
    await this.#drainTo(0)
    const isWhole = this.#goesOn()
    return {
      deferred: this.#deferred, last: this.#batch, unfinished: this.#unfinished,
      overLimit: isWhole ? waiting.waiting : 0,
      cutOff: this.#cutOff + (isWhole ? 0 : waiting.waiting),
    }
  }

  /** Reads one after the other; `unsettled` is told of those that are still being written. */
  async #each(
    next: () => Candidate | null, unsettled: (candidate: Candidate) => void,
  ): Promise<void> {
    while (this.#hasRoom()) {
      const candidate = next()
      if (candidate === null) return
      await this.#read(candidate, unsettled)
    }
  }

  #hasRoom(): boolean {
    return this.#goesOn() && this.#left > 0
  }

  #goesOn(): boolean {
    return this.#writing && !this.world.stopped()
  }

  async #read(
    candidate: Candidate, unsettled: (candidate: Candidate) => void,
  ): Promise<void> {
    const { world } = this
    await world.at('scan.read')
    const result = readOnce(world.folder, candidate.name, world.nowMs())
    if (result.kind === 'unsettled') return unsettled(candidate)
    if (result.kind === 'unavailable') return this.#defer(candidate, result.reason)
    this.#left -= 1
    world.read()
    const { facts } = result
    const refused = result.kind === 'refused' ? result.reason : null
    const bytes = result.kind === 'read' ? result.bytes : new Uint8Array(0)
    const examined = result.kind === 'read'
      ? world.examiner.examine(result.bytes) : Promise.resolve(null)
    // It is awaited in its turn; until then a failure is nobody's.
    examined.catch(() => undefined)
    this.#ahead.push({ candidate, facts, refused, bytes, examined })
    this.#aheadBytes += bytes.length
    while (this.#aheadBytes > aheadBytesMax || this.#ahead.length > aheadFilesMax) {
      await this.#takeFirst()
    }
  }

  #leave(candidate: Candidate): void {
    this.#unfinished.push(candidate)
    this.#defer(candidate, 'still_being_written')
  }

  #defer({ name }: Candidate, reason: string): void {
    this.#deferred.push({ name: fileNameOf(name), outcome: 'deferred', reason, isProblem: true })
  }

  async #drainTo(files: number): Promise<void> {
    while (this.#ahead.length > files) await this.#takeFirst()
  }

  async #takeFirst(): Promise<void> {
    const ahead = this.#ahead.shift()
    if (ahead === undefined) return
    const examined = await ahead.examined
    this.#aheadBytes -= ahead.bytes.length
    if (!this.#writing) {
      this.#cutOff += 1
      return
    }
    // The last batch waits for the receipt: only a full one that is followed by another goes now.
    if (this.#batch.length >= batchFiles) await this.#commit()
    if (!this.#writing) {
      this.#cutOff += 1
      return
    }
    const taken = takenOf(ahead, examined, this.world.nowMs())
    this.#batch.push(await this.world.confirm(taken, ahead.bytes))
    this.#urgent ||= ahead.candidate.isUrgent
    // A file that somebody has just finished waits for no others; the last ones have the receipt.
    const more = this.#ahead[0]
    if (this.#urgent && more !== undefined && !more.candidate.isUrgent) await this.#commit()
  }

  async #commit(): Promise<void> {
    const files = this.#batch
    this.#batch = []
    this.#urgent = false
    this.#writing = await this.world.commit(files)
    if (!this.#writing) this.#cutOff += files.length
  }
}

/** The one wait of a scan, milliseconds. */
export const settleMs = shotLimits.settleMs
