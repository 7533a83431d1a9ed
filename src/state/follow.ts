/**
 * The newest state of a directory as one process knows it: a generation and how far its log has
 * been read. Other processes write; `catchUp` follows them. Takes no lock and changes no byte.
 */
import type { Clock } from '../base/clock.js'
import type { SallyportError } from '../base/errors.js'
import { truncateBehind, goneText, readEnd, tornText, type EndedAt } from './ended-at.js'
import { ioFailure, orIoFailure, type FileFacts, type Files } from './files.js'
import { requireOwnFolders } from './folders.js'
import type { Places } from './paths.js'
import type { Generation } from './snapshot/generation.js'
import { loadNewest } from './snapshot/load.js'
import { SegmentPool, type Lease } from './snapshot/pool.js'
import type { Problem } from './types.js'
import { StoreView } from './view.js'

const tailTriesMax = 20
const tailPauseMs = 2
/** A log that nobody has touched for so long is not being written. */
const quietMsMin = 1000

/** Blocks this thread for some milliseconds: a reader met a record that is being written. */
const pause = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const damageOf = (code: string, message: string): Problem => ({ code, severity: 'damage', message })

/** Which directory is followed, and through what. */
interface Followed {
  readonly files: Files
  readonly clock: Clock
  readonly dir: string
  readonly places: Places
  readonly storeId: string
  /** See `OpenOptions`. */
  readonly cachedBytes?: number | undefined
  /** See `OpenOptions`. */
  readonly readsWait?: boolean | undefined
  /** Asked whenever another generation has taken over; throws where it is not this store's. */
  readonly onReload?: () => void
}

/** Closes the files of a generation that nobody reads any more. */
const unread = new FinalizationRegistry<Lease>((lease) => lease.release())

/** Follows the log of one state directory. Made by opening it: throws what opening throws. */
export class Follower {
  readonly #at: Followed
  readonly #pool: SegmentPool
  #generation: Generation
  #loadDamage: Problem | null = null
  #partDamage: { readonly epoch: number; readonly problem: Problem } | undefined
  /** An end of the log that was not whole, and since when it has been seen; see `#doubt`. */
  /** Where the log had ended when another process did, read before the log itself. */
  #ended: EndedAt | undefined
  #openEnd: { readonly end: number; readonly size: number; readonly sinceMs: number } | null = null
  /** Whether the log may end in a record that is being written at this very moment. */
  #inDoubt = false
  /**
   * Whether another process may have died between a marked record and its effects, so that the
   * hooks of opening have to run before this process writes. Its writer sets it back.
   */
  hooksDue = true

  constructor(at: Followed) {
    this.#at = at
    this.#pool = new SegmentPool(at.files, at.places, at.cachedBytes)
    this.#generation = this.#load()
  }

  /** The generation this process stands on. */
  get generation(): Generation {
    return this.#generation
  }

  #load(): Generation {
    const { files, dir, places, storeId } = this.#at
    requireOwnFolders(files, dir)
    this.#ended = orIoFailure('reading where a log ended', () => readEnd(files, places))
    const { generation, damage } = loadNewest({ files, places, pool: this.#pool, storeId })
    unread.register(generation, generation.lease)
    this.#loadDamage = damage === undefined ? null : damageOf(damage.code, damage.message)
    return generation
  }

  /** Loads the newest generation again. The former one stays readable for its views. */
  reload(): void {
    this.#at.onReload?.()
    const before = this.#generation
    const loaded = this.#load()
    before.closeLog()
    this.#generation = loaded
    this.hooksDue = true
  }

  /** Lets go of every file; views are not read any more. */
  close(): void {
    this.#generation.closeLog()
    this.#pool.close()
  }

  /** Why writes are refused at this moment, or null. */
  get damage(): Problem | null {
    const { tail, epoch } = this.#generation
    if (this.#loadDamage !== null) return this.#loadDamage
    if (this.#successorMissing()) return damageOf('log_missing', missingMessage)
    if (tail !== 'clean' && tail !== 'torn' && !this.#inDoubt) {
      return damageOf(`log_${tail}`, tailMessage(tail))
    }
    return this.#partDamage?.epoch === epoch ? this.#partDamage.problem : null
  }

  /** Sealed for a log that is not there. */
  #successorMissing(): boolean {
    const { files, places } = this.#at
    const { sealedFor } = this.#generation
    return sealedFor !== undefined && files.stat(places.log(sealedFor)) === undefined
  }

  /** What is worth knowing of the log as it was last read, or null. */
  get notice(): Problem | null {
    const { sequence, epoch, tail } = this.#generation
    const behind = truncateBehind(this.#ended, { epoch, sequence })
    if (tail === 'torn' && !this.#inDoubt) {
      return {
        code: 'log_torn',
        severity: 'torn',
        message: 'The log ends in a torn record, which the next write cuts: '
          + `${tornText(sequence, behind)}.`,
      }
    }
    if (tail !== 'clean' || behind === undefined) return null
    const message = `The log was cut: ${goneText(sequence, behind)}.`
    return { code: 'log_cut', severity: 'notice', message }
  }

  /** Remembers damage that a collection file turns out to have. */
  met(error: SallyportError): SallyportError {
    if (['collection_damaged', 'collection_missing'].includes(error.code)) {
      const problem = damageOf(error.code, error.message)
      this.#partDamage = { epoch: this.#generation.epoch, problem }
    }
    return error
  }

  /** Reads what other processes have committed since. `locked`: nobody can be writing now. */
  catchUp(locked: boolean): void {
    const { files, clock } = this.#at
    try {
      for (let tries = 0; ; tries += 1) {
        let facts = files.stat(this.#generation.logPath)
        if (this.#isStale(facts)) {
          this.reload()
          facts = files.stat(this.#generation.logPath)
        }
        const now = this.#generation
        if (now.readTail(facts?.size ?? now.end)) this.hooksDue = true
        const open = now.tail === 'ambiguous' || now.tail === 'torn'
        // Without the lock this may be a record that is being written at this very moment.
        const quietMs = clock.wallMs() - (facts?.mtimeMs ?? 0)
        const isUnsure = open && !locked && quietMs <= quietMsMin
        if (this.#at.readsWait === false) return this.#doubt(isUnsure, facts?.size ?? 0)
        if (!isUnsure || tries >= tailTriesMax) return
        pause(tailPauseMs)
      }
    } catch (error) {
      throw ioFailure(error, 'reading the log')
    }
  }

  /**
   * Remembers since when the log ends like this, in place of waiting: what is being written has not
   * been acknowledged, and the last whole record serves. By the clock that never steps back: one
   * that does would keep a record in doubt for as long as it is behind.
   */
  #doubt(isUnsure: boolean, size: number): void {
    const { end } = this.#generation
    const nowMs = this.#at.clock.monotonicMs()
    const before = this.#openEnd
    const isSame = isUnsure && before?.end === end && before.size === size
    if (!isSame) this.#openEnd = isUnsure ? { end, size, sinceMs: nowMs } : null
    this.#inDoubt = isUnsure && (!isSame || nowMs - before.sinceMs <= quietMsMin)
  }

  /** Whether another generation has taken over, or the one before it had to stand in. */
  #isStale(facts: FileFacts | undefined): boolean {
    const { log, end, nextLogPath } = this.#generation
    if (this.#loadDamage !== null) return true
    if (this.#at.files.stat(nextLogPath) !== undefined) return true
    return facts === undefined || facts.ino !== log?.inode || facts.size < end
  }

  keepAtMost(bytes: number): void {
    this.#pool.keepAtMost(bytes)
  }

  /** What `fn` gives, which reads rows that are in memory and no file. Throws `NotLoaded`. */
  readingNothing<T>(fn: () => T): T {
    return this.#pool.readingNothing(fn)
  }

  /** A view of what has been read so far. */
  view(): StoreView {
    return new StoreView(this.#generation, { met: (error) => this.met(error) })
  }
}

const missingMessage =
  'The newest log is gone: the one before it names a successor that is not there.'

const tailMessage = (tail: string): string =>
  tail === 'ambiguous'
    ? 'The last record of the log is whole but untrue.'
    : tail === 'bad_payload'
      ? 'A record of the log holds something that no record may hold.'
      : 'A record in the middle of the log is damaged.'
