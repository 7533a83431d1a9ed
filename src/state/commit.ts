/**
 * The writing half of a state directory: one transaction at a time under the lock.
 *
 * - A transaction is synchronous from the moment the lock is taken to the moment it is given back:
 *   catch up, run the caller's function, append a record, sync, effects, anchor, maybe rotate.
 * - Folding takes the lock only to begin a new log; the sealed ones are folded beside everybody
 *   else's work, by whoever gets the lock `fold` at once.
 * - Nothing is answered before its record is synced, nor before what it rests on is: a transaction
 *   that writes nothing may answer from a record that a dead process left unsynced (`confirm.ts`).
 * - After one failed write or sync this process writes no more (a second sync may report success
 *   for lost bytes); the next process replays, and writes again what it did not sync itself.
 */
import { join } from 'node:path'
import { isoFromMs, type Clock } from '../base/clock.js'
import { fullDisk } from '../base/errno.js'
import { fail, SallyportError } from '../base/errors.js'
import { compareAnchor, type Anchor } from './anchor.js'
import { Confirmation } from './confirm.js'
import { truncateBehind, noteEnd, readEnd, tornText } from './ended-at.js'
import {
  ioFailure, orIoFailure, publish, readRange, syncDir, writeAll, type Files,
} from './files.js'
import { whileNobodyFolds } from './fold-lock.js'
import type { Follower } from './follow.js'
import { takeFreeLock, takeLock, type LockMaker, type StateLock } from './lock.js'
import { encodeRecord, payloadBytesMax } from './log/format.js'
import { decodePayload, encodePayload } from './log/record.js'
import { epochText, type KeyPlaces, type Places } from './paths.js'
import { fold, mergeBytesAtClose, type FoldOptions } from './snapshot/fold.js'
import { NotLoaded } from './snapshot/pool.js'
import type { Generation } from './snapshot/generation.js'
import { rotate } from './snapshot/rotate.js'
import type { FirstRecord, Problem, Turn, Tx, WitnessLog, WriteHookContext } from './types.js'
import { StoreTx } from './view.js'

interface CommitParts {
  readonly dir: string
  readonly places: Places
  readonly keyPlaces: KeyPlaces
  readonly files: Files
  readonly clock: Clock
  readonly follower: Follower
  readonly anchor: Anchor
  readonly witness: WitnessLog
  readonly lock: LockMaker
  /** Milliseconds to wait for the lock. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** Bytes of log past which a process that wrote folds it when it closes. */
  readonly logBytesMax: number
  /** See `OpenOptions.folds`. */
  readonly folds: boolean
  /** Also where only others wrote. */
  readonly foldsForOthers: boolean
  readonly hooks: readonly ((context: WriteHookContext) => void)[]
  /** See `OpenOptions.recordFirst`. */
  readonly first: () => FirstRecord | null
  /** See `OpenOptions.onFollowed`. */
  readonly onFollowed: (context: WriteHookContext) => void
}

/** A record that a place has, or is about to get. */
export interface TakenRecord {
  readonly sequence: number
  /** The chain value behind it. */
  readonly chain: string
  /** Canonical JSON of its content. */
  readonly payload: string
}

/** What a transaction would write over the rows as they are known here; nothing is written. */
export interface Proposal<T> {
  readonly result: T
  /** The record that it comes to and the one before; null where it changes nothing. */
  readonly record: (TakenRecord & { readonly before: string }) | null
  readonly effects: readonly (() => void)[]
}

interface NextMark {
  readonly number: number
  readonly policy_revision: number | null
}

/** A log this many times longer than `logBytesMax` is folded in the middle of writing. */
const bulkFactor = 32
/** Bytes that a bulk writer merges each time it folds. */
const mergeBytesInBulk = 64 * 1024 * 1024

/** Others may fold what was read between two turns at the lock; so often it is read again. */
const rehearsalsMax = 8

/** No UTF-16 unit has more bytes in UTF-8. */
const bytesAUnit = 3

/** `damaged` `replica_forked`: a record of a place that does not go on from what is known here. */
export const replicaForked = (): Error =>
  fail.damaged('replica_forked', 'The records at the server do not continue those known here.', {
    next: 'Nothing was written or sent. `sallyport doctor` tells which place it is; a machine that '
      + 'went on with another history joins anew.',
  })

const waits = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'then' in result

const restless = (): Error =>
  fail.failed('store_restless', 'Other processes fold the state faster than it can be read.', {
    next: 'Run the command again when they are done.',
  })

const isTooLong = (payload: string): boolean =>
  payload.length * bytesAUnit > payloadBytesMax && Buffer.byteLength(payload) > payloadBytesMax

/** Writes records; see the invariants above. */
export class Committer {
  readonly #at: CommitParts
  readonly #follower: Follower
  readonly #notices: Problem[] = []
  readonly #confirmation: Confirmation
  #lock: StateLock | undefined
  #logFd: { readonly fd: number; readonly log: Generation['log'] } | undefined
  #poisoned = false
  #wrote = false
  #foldFailed = false
  /** Epoch of the newest log that this process has begun. */
  #rotatedAt = 0
  #foldLock: StateLock | undefined
  /** Set while a restore re-bases the anchor: marks then move it whatever it says. */
  rebasing = false

  constructor(parts: CommitParts) {
    this.#at = parts
    this.#follower = parts.follower
    this.#confirmation = new Confirmation(parts)
  }

  /** Whether a write or sync failed: this process writes no more. */
  get poisoned(): boolean {
    return this.#poisoned
  }

  /** What was mended or noticed, for people. */
  get notices(): readonly Problem[] {
    return this.#notices
  }

  /** One transaction; see `Store.transact`. */
  async transact<T>(verb: string, fn: (tx: Tx) => T, turn: Turn = {}): Promise<T> {
    const rotated = this.#follower.generation.epoch
    const answer = await this.exclusive(verb, () => {
      this.#refuseDamage()
      this.#runHooks()
      this.#recordFirst()
      const tx = new StoreTx(this.#follower.view())
      const result = fn(tx)
      if (waits(result)) throw new TypeError('a transaction must not wait')
      this.#commit(verb, tx)
      this.#rotateBeyond(bulkFactor * this.#at.logBytesMax)
      return result
    }, turn)
    if (this.#rotatedAt > rotated) this.#foldOrNote({ mergeBytesMax: mergeBytesInBulk })
    return answer
  }

  /** One transaction over rows that are in memory; see `Store.transactLoaded`. */
  async transactLoaded<T>(verb: string, fn: (tx: Tx) => T, turn: Turn = {}): Promise<T> {
    for (let rehearsals = 1; ; rehearsals += 1) {
      this.#rehearse(fn)
      try {
        return await this.transact(verb, (tx) => this.#follower.readingNothing(() => fn(tx)), turn)
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error
        if (rehearsals >= rehearsalsMax) throw restless()
      }
    }
  }

  /**
   * What a transaction comes to over the rows that are known, for a store whose records are placed
   * elsewhere first. Takes no lock; `fn` may run again over newer rows.
   */
  propose<T>(verb: string, fn: (tx: Tx) => T): Proposal<T> {
    this.#follower.catchUp(false)
    this.#refusePoisoned()
    this.#refuseDamage()
    const { generation } = this.#follower
    const tx = new StoreTx(this.#follower.view())
    const result = fn(tx)
    if (waits(result)) throw new TypeError('a transaction must not wait')
    const [changes, { marked, effects }] = [tx.finish(), tx]
    if (changes.length === 0 && marked === undefined) return { result, record: null, effects }
    const mark = marked === undefined
      ? undefined : this.#nextMark(marked.policyRevision, this.#anchorAgrees())
    const payload = this.#payload(verb, changes, mark)
    const [sequence, before] = [generation.sequence + 1, generation.chain]
    const { chain } = encodeRecord(generation.binding, sequence, before, payload)
    return { result, record: { sequence, before, chain, payload }, effects }
  }

  /**
   * Writes records that a place has into the log, which is a copy of them: what a power cut takes
   * is fetched again, so only what the anchor rests on is synced. Those that are here already are
   * passed over. `effects` are those of the last record. `damaged` `replica_forked`.
   */
  async takeIn(
    verb: string, records: readonly TakenRecord[], effects: readonly (() => void)[] = [],
  ): Promise<void> {
    const rotated = this.#follower.generation.epoch
    await this.exclusive(verb, () => {
      this.#refuseDamage()
      if (this.#follower.hooksDue) {
        this.#completeAnchor()
        this.#at.onFollowed({ view: this.#follower.view(), witness: this.#at.witness })
      }
      this.#follower.hooksDue = false
      for (const record of records) {
        this.#takeOne(record, record === records.at(-1) ? effects : [])
      }
      if (records.length === 0) this.#run(effects)
      this.#rotateBeyond(bulkFactor * this.#at.logBytesMax)
    })
    if (this.#rotatedAt > rotated) this.#foldOrNote({ mergeBytesMax: mergeBytesInBulk })
  }

  #takeOne({ sequence, chain, payload }: TakenRecord, effects: readonly (() => void)[]): void {
    const { files, witness } = this.#at
    const { generation } = this.#follower
    if (sequence <= generation.sequence) return this.#run(effects)
    const mark = decodePayload(payload)?.mark
    const record = encodeRecord(generation.binding, sequence, generation.chain, payload)
    if (sequence !== generation.sequence + 1 || record.chain !== chain) throw replicaForked()
    const moves = mark !== undefined && this.#anchorAgrees()
    if (moves) this.#orPoison('moving the anchor', () => this.#at.anchor.take())
    const fd = this.#openLog()
    this.#cutTornTail(fd)
    this.#orPoison('writing the log', () => {
      this.#write(fd, record.bytes)
      if (mark !== undefined) files.syncData(fd)
    })
    this.#wrote = true
    generation.applyOwn(sequence, record, mark)
    if ((mark?.policy_revision ?? null) !== null) {
      this.#at.onFollowed({ view: this.#follower.view(), witness })
    }
    this.#run(effects)
    const last = generation.marks.at(-1)
    if (moves && last !== undefined) this.#moveAnchor(last)
  }

  /**
   * Reads what a transaction will look at, and syncs the names on the way to the log; what the
   * transaction answers or throws now counts for nothing.
   */
  #rehearse(fn: (tx: Tx) => unknown): void {
    this.#follower.catchUp(false)
    this.#refusePoisoned()
    this.#orPoison('writing the log', () => this.#confirmation.nameLog(this.#follower.generation))
    try {
      fn(new StoreTx(this.#follower.view()))
    } catch {
      // It is asked again under the lock.
    }
  }

  /** Runs `fn` under the lock, caught up with the log. Waiting for the lock blocks no thread. */
  async exclusive<T>(verb: string, fn: () => T, { first = false }: Turn = {}): Promise<T> {
    this.#refusePoisoned()
    try {
      const lock = this.#stateLock
      if (!takeFreeLock(lock, verb, first)) await takeLock(lock, verb, { ...this.#at, first })
    } catch (error) {
      throw ioFailure(error, 'taking the lock')
    }
    try {
      this.#refusePoisoned()
      this.#follower.catchUp(true)
      return this.#at.anchor.heldStill(fn)
    } finally {
      this.#stateLock.give()
    }
  }

  /** Made at the first transaction, so that readers never touch it. */
  get #stateLock(): StateLock {
    this.#lock ??= this.#at.lock(this.#at.places.lock, this.#at.clock)
    return this.#lock
  }

  #refusePoisoned(): void {
    if (!this.#poisoned) return
    throw fail.failed('store_poisoned', 'An earlier write failed; this process writes no more.', {
      next: 'Run the command again; it replays what is durable.',
    })
  }

  #refuseDamage(): void {
    const { damage } = this.#follower
    if (damage === null) return
    throw fail.damaged(damage.code, `${damage.message} Writes are refused.`, {
      next: 'Run `sallyport state check`, then `sallyport state repair`.',
    })
  }

  #runHooks(): void {
    if (!this.#follower.hooksDue) return
    this.#completeAnchor()
    const view = this.#follower.view()
    const { witness } = this.#at
    // What is written outside the log must not know of a record that the log may still lose.
    const confirmed: WitnessLog = {
      ...witness,
      append: (line) => {
        this.#confirm()
        witness.append(line)
      },
    }
    for (const hook of this.#at.hooks) hook({ view, witness: confirmed })
    this.#follower.hooksDue = false
  }

  /** What waits to be recorded, in a record before the caller's. */
  #recordFirst(): void {
    const first = this.#at.first()
    if (first === null) return
    const tx = new StoreTx(this.#follower.view())
    first.write(tx)
    this.#commit('stops', tx)
    first.done()
  }

  /** A process died between a marked record and the anchor: move the anchor on. */
  #completeAnchor(): void {
    const last = this.#follower.generation.marks.at(-1)
    if (!this.#compared().oneAhead || last === undefined) return
    this.#confirm()
    this.#moveAnchor(last)
  }

  #compared(): ReturnType<typeof compareAnchor> {
    const { marks, manifest } = this.#follower.generation
    return compareAnchor(this.#at.anchor.read(), marks, manifest.mark_floor)
  }

  #moveAnchor(mark: Parameters<Anchor['move']>[0]): void {
    this.#orPoison('moving the anchor', () => this.#at.anchor.move(mark))
  }

  #commit(verb: string, tx: StoreTx): void {
    const changes = tx.finish()
    const marked = tx.marked
    if (changes.length > 0 || marked !== undefined) {
      // Only an anchor that agreed before may move: a mismatch must not be healed by writing on.
      const moves = marked !== undefined && (this.rebasing || this.#anchorAgrees())
      const mark = marked === undefined
        ? undefined : this.#nextMark(marked.policyRevision, moves)
      if (moves) this.#orPoison('moving the anchor', () => this.#at.anchor.take())
      this.#append(verb, changes, mark)
      this.#effects(tx)
      const last = this.#follower.generation.marks.at(-1)
      if (moves && last !== undefined) this.#moveAnchor(last)
    } else {
      this.#confirm()
      this.#effects(tx)
    }
  }

  /** Makes durable what this transaction rests on and did not write itself. */
  #confirm(): void {
    const { generation } = this.#follower
    if (this.#confirmation.covers(generation)) return
    const fd = this.#openLog()
    this.#orPoison('writing the log', () => {
      this.#confirmation.rewrite(generation, fd)
      this.#at.files.syncData(fd)
      this.#confirmation.synced(generation, generation.end)
    })
  }

  #effects(tx: StoreTx): void {
    this.#run(tx.effects)
  }

  #run(effects: readonly (() => void)[]): void {
    try {
      for (const effect of effects) effect()
    } catch (error) {
      this.#follower.hooksDue = true
      throw error
    }
  }

  #anchorAgrees(): boolean {
    const { status, oneAhead } = this.#compared()
    return status === 'ok' && !oneAhead
  }

  /**
   * Behind an anchor of which a slot was changed a mark leaves a number out: if the log went on by
   * one, that slot would look like one that was torn.
   */
  #nextMark(revision: number | undefined, moves: boolean): NextMark {
    const { marks, manifest } = this.#follower.generation
    const last = marks.at(-1)
    const step = !moves && this.#compared().status === 'forged' ? 2 : 1
    const number = Math.max(last?.number ?? 0, manifest.mark_floor) + step
    return { number, policy_revision: revision ?? last?.policy_revision ?? null }
  }

  #payload(
    verb: string, changes: ReturnType<StoreTx['finish']>, mark: NextMark | undefined,
  ): string {
    const payload = encodePayload(isoFromMs(this.#at.clock.wallMs()), verb, changes, mark)
    if (!isTooLong(payload)) return payload
    throw fail.rejected('record_too_large', 'One transaction may write 16 MiB at most.', {
      details: { bytes_max: payloadBytesMax },
    })
  }

  #append(verb: string, changes: ReturnType<StoreTx['finish']>, mark: NextMark | undefined): void {
    const { files } = this.#at
    const { generation } = this.#follower
    const payload = this.#payload(verb, changes, mark)
    const sequence = generation.sequence + 1
    const record = encodeRecord(generation.binding, sequence, generation.chain, payload)
    const fd = this.#openLog()
    this.#cutTornTail(fd)
    this.#orPoison('writing the log', () => {
      this.#confirmation.rewrite(generation, fd)
      this.#write(fd, record.bytes)
      files.syncData(fd)
      this.#confirmation.synced(generation, generation.end + record.bytes.length)
    })
    this.#wrote = true
    generation.applyOwn(sequence, record, mark)
  }

  /**
   * Writes a record behind the last one. Where the disk takes a part of it only, that goes again:
   * it may be the room that a stop needs. A whole one stays, which others may have read.
   */
  #write(fd: number, bytes: Buffer): void {
    const { files } = this.#at
    const { end } = this.#follower.generation
    try {
      writeAll(files, fd, bytes, end)
    } catch (error) {
      try {
        const { size } = files.fstat(fd)
        if (size > end && size < end + bytes.length) files.truncate(fd, end)
      } catch {
        // It stays, as after a crash: the next writer cuts it.
      }
      throw error
    }
  }

  #openLog(): number {
    const { files } = this.#at
    const { generation } = this.#follower
    if (this.#logFd !== undefined && this.#logFd.log === generation.log) return this.#logFd.fd
    this.#closeLog()
    try {
      const fd = files.open(generation.logPath, 'readwrite')
      this.#logFd = { fd, log: generation.log }
      return fd
    } catch (error) {
      throw ioFailure(error, 'opening the log')
    }
  }

  #closeLog(): void {
    if (this.#logFd !== undefined) this.#at.files.close(this.#logFd.fd)
    this.#logFd = undefined
  }

  /** The last record was not written whole: keep its bytes aside if there is room, then cut it. */
  #cutTornTail(fd: number): void {
    const { files, places } = this.#at
    const { generation } = this.#follower
    if (generation.tail !== 'torn') return
    const size = files.fstat(fd).size
    const bytes = readRange(files, fd, generation.end, size - generation.end)
    const behind = orIoFailure('reading where a log ended', () =>
      truncateBehind(readEnd(files, places), generation))
    let kept = ''
    this.#orPoison('cutting a torn record', () => {
      kept = this.#keptAside(bytes) ? '' : ' without a copy, for which the disk has no room'
      files.truncate(fd, generation.end)
      files.sync(fd)
    })
    generation.tail = 'clean'
    this.#notices.push({
      code: 'torn_tail_cut',
      severity: 'notice',
      message: `A torn last record (${bytes.length} bytes) was cut${kept}: `
        + `${tornText(generation.sequence, behind)}.`,
    })
  }

  /** Copies a torn record; false where the disk is full: cutting it gives a stop its room back. */
  #keptAside(bytes: Buffer): boolean {
    const { files, places, clock, dir } = this.#at
    const { epoch, end } = this.#follower.generation
    try {
      if (files.stat(places.aside) === undefined) {
        files.mkdir(places.aside)
        syncDir(files, dir)
      }
      publish(files, join(places.aside, `torn-${epochText(epoch)}-${end}-${clock.wallMs()}`), bytes)
      return true
    } catch (error) {
      if (fullDisk(error, 'copying a torn record') === null) throw error
      return false
    }
  }

  #orPoison(what: string, fn: () => void): void {
    try {
      fn()
    } catch (error) {
      this.#poisoned = true
      throw ioFailure(error, what)
    }
  }

  /** Begins a new log where this one has grown long; what fails here is told and not repeated. */
  #rotateBeyond(bytesMax: number): void {
    if (!this.#at.folds || this.#foldFailed) return
    if (this.#follower.generation.end <= bytesMax) return
    this.#orNote(() => this.rotate())
  }

  #foldOrNote(options: FoldOptions): void {
    if (!this.#foldFailed) this.#orNote(() => this.fold(options))
  }

  #orNote(fn: () => void): void {
    try {
      fn()
    } catch (error) {
      // The caller's record is durable; only the folding failed, and it is not tried again here.
      this.#foldFailed = true
      this.#notices.push({
        code: 'checkpoint_failed',
        severity: 'notice',
        message: 'The log could not be folded into snapshots; it goes on growing.',
        ...(error instanceof SallyportError ? { subject: error.code } : {}),
      })
    }
  }

  /** Seals the log and begins a new one. The lock must be held, see `exclusive`. */
  rotate(): void {
    const { files, places } = this.#at
    const follower = this.#follower
    this.#refuseDamage()
    this.#cutTornTail(this.#openLog())
    this.#confirm()
    let committing = false
    try {
      rotate(files, places, follower.generation, () => {
        committing = true
      })
      follower.reload()
      this.#confirmation.published(follower.generation)
      this.#rotatedAt = follower.generation.epoch
    } catch (error) {
      // Once the new log may be in place, nobody knows which of the two a crash would leave.
      if (committing) this.#poisoned = true
      throw follower.met(ioFailure(error, 'beginning a new log'))
    }
  }

  /**
   * Folds sealed logs and goes on with merging, unless another process is at it. No lock of the
   * state is needed. True when nothing is left to do.
   */
  fold(options: FoldOptions): boolean {
    this.#foldLock ??= this.#at.lock(this.#at.places.fold, this.#at.clock)
    if (!this.#foldLock.tryTake('fold')) return false
    try {
      return this.#foldNow(options)
    } finally {
      this.#foldLock.give()
    }
  }

  #foldNow(options: FoldOptions): boolean {
    const { files, places, clock, follower } = this.#at
    try {
      const { storeId } = follower.generation.binding
      const report = fold({ files, places, clock, storeId }, options)
      if (report.published) follower.reload()
      return !report.unfinished
    } catch (error) {
      throw follower.met(ioFailure(error, 'folding the log'))
    }
  }

  /** Folds all sealed logs and merges every run into one, once nobody else folds. */
  async mergeAll(verb: string): Promise<void> {
    const options = { mergeBytesMax: Number.POSITIVE_INFINITY, whole: true }
    await whileNobodyFolds(this.#at, verb, () => this.#foldNow(options))
  }

  /** Runs `fn` while nobody folds, on the newest manifest. Blocks no thread. */
  async withoutFolding<T>(verb: string, fn: () => Promise<T>): Promise<T> {
    return whileNobodyFolds(this.#at, verb, () => {
      this.#follower.reload()
      return fn()
    })
  }

  /** Rotates and folds what there is. The lock must be held, see `exclusive`. */
  checkpoint(options: FoldOptions = { mergeBytesMax: mergeBytesAtClose }): void {
    this.rotate()
    this.fold(options)
  }

  /** Rotates a long log if the lock is free at once; what fails is not the caller's concern. */
  #rotateAtClose(): void {
    const { logBytesMax } = this.#at
    const follower = this.#follower
    if (follower.generation.end <= logBytesMax || !this.#stateLock.tryTake('fold')) return
    try {
      follower.catchUp(true)
      if (follower.damage === null) this.#rotateBeyond(logBytesMax)
    } finally {
      this.#stateLock.give()
    }
  }

  #foldAtClose(): void {
    const { folds, foldsForOthers } = this.#at
    if (!folds || !(this.#wrote || foldsForOthers) || this.#poisoned) return
    this.#rotateAtClose()
    const { epoch, manifest } = this.#follower.generation
    if (epoch > manifest.epoch + 1) this.#foldOrNote({ mergeBytesMax: mergeBytesAtClose })
  }

  /** Folds what has grown long and closes lock and log. */
  close(): void {
    try {
      this.#foldAtClose()
    } catch {
      // The logs stay as they are; the next writer folds them.
    }
    this.#noteEnd()
    this.#lock?.close()
    this.#foldLock?.close()
    this.#closeLog()
  }

  #noteEnd(): void {
    if (!this.#wrote || this.#poisoned) return
    const { files, places } = this.#at
    const { generation } = this.#follower
    try {
      // Where ours was lost, a repair has begun another log of that number.
      if (files.stat(generation.logPath)?.ino !== generation.log?.inode) return
      noteEnd(files, places, generation)
    } catch {
      // Only what is told of a log that is cut later suffers.
    }
  }
}
