/**
 * The private spool of a device (S-035 to S-037, S-039, S-040). Plain files, because whoever can
 * read the folder can read the credential beside it: a key in the same place would protect nothing.
 *
 * Every change is made under one kernel lock that is held for the change alone, never over the
 * network. A capture is written and synced under a name of its own, linked under its request id,
 * then renamed into the queue and the folder synced: only the last of these makes it one that
 * waits, and what a crash left before it is swept by whoever comes next.
 */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs, type Clock } from '../../../base/clock.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { tryHoldFile } from '../../../state/holds/kernel-file.js'
import {
  ioFailure, orIoFailure, readRange, readWhole, removeFile, withFile, writeAll, type Files,
} from '../../../state/files.js'
import type { DevicePlaces } from '../folder.js'
import { captureBytesMax } from '../picture.js'
import { contactedRequest } from '../sending.js'
import type { SpoolLimits } from '../settings.js'
import { Aside, asideMax } from './aside.js'
import { Evictions, type Eviction } from './evictions.js'
import {
  decodeCapture, decodeFacts, encodeCapture, headBytesMax, type Capture, type CaptureFacts,
} from './item.js'
import { Queue, type Entry, type Extent } from './queue.js'

/** How many captures wait or lie aside, and what they take on the disk. */
export interface SpoolCounts {
  readonly items: number
  readonly bytes: number
  readonly aside: number
}

/** What became of a capture that was put in. */
export interface Added {
  /** `known`: the same request id with the same content waits already. */
  readonly outcome: 'spooled' | 'known'
  /** What lies in the spool under the request id. */
  readonly facts: CaptureFacts
  readonly counts: SpoolCounts
  readonly evicted: readonly Eviction[]
}

/** Announces steps, so that a test ends the process there. */
export type Steps = (step: string) => void | Promise<void>

/** What a spool needs. */
export interface SpoolDeps {
  readonly files: Files
  readonly places: DevicePlaces
  readonly clock: Clock
  readonly limits: SpoolLimits
  /** Longest wait for the lock, milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
  readonly at: Steps
}

const pollMs = 5
const fileBytesMax = captureBytesMax + headBytesMax
/** A clock that goes back by less than this is no clock that was wrong. */
const futureMs = 60_000

/** What a capture may not be otherwise under the request id of one that waits. */
const compared = ['sha256', 'cloud_egress', 'model_egress', 'purpose', 'source'] as const

/** The spool of one device; several processes may have it open. */
export class Spool {
  readonly #deps: SpoolDeps
  readonly #files: Files
  readonly #queue: Queue
  readonly #aside: Aside
  readonly #evictions: Evictions

  constructor(deps: SpoolDeps) {
    const { files, places } = deps
    this.#deps = deps
    this.#files = files
    this.#queue = new Queue(files, places.queue)
    this.#aside = new Aside(files, places.aside)
    this.#evictions = new Evictions(files, places.evictions)
  }

  /**
   * Puts a capture in, once it is synced. Whatever is too old or too much leaves first. Throws
   * `conflict` `request_id_conflict` where the id waits with other content, `rejected`
   * `capture_over_limit` where it alone is more than the spool may hold, `locked` `spool_locked`,
   * and `disk_full` and its like with nothing added.
   */
  async add(capture: Capture): Promise<Added> {
    const file = encodeCapture(capture)
    const { limits, at } = this.#deps
    if (file.length > limits.max_bytes) {
      throw fail.rejected(
        'capture_over_limit', 'The capture alone is more than the spool may hold.',
        { details: { limit_bytes: limits.max_bytes } },
      )
    }
    return this.#locked('a capture', async () => {
      await at('spool.locked')
      const left = this.#known(capture.facts) === null ? null : this.#makeRoom(0)
      // Asked again: what has just left is known no more.
      const known = left === null ? null : this.#known(capture.facts)
      if (left !== null && known !== null) {
        const counts = this.#counts(left.extent)
        return { outcome: 'known', facts: known, counts, evicted: left.evicted }
      }
      const { evicted, extent } = this.#makeRoom(file.length)
      const counts = this.#counts(await this.#write(capture.facts.request_id, file, extent))
      const all = [...left?.evicted ?? [], ...evicted]
      return { outcome: 'spooled', facts: capture.facts, counts, evicted: all }
    })
  }

  /** The oldest that waits, after what is too old has left; and how many ever left unsent. */
  async front(): Promise<{
    entry: Entry | null; evicted: readonly Eviction[]; evictions: number
  }> {
    return this.#locked('the spool', async () => {
      const { evicted, extent } = this.#makeRoom(0)
      const evictions = this.#evictions.last()?.number ?? 0
      return { entry: extent?.first ?? null, evicted, evictions }
    })
  }

  /** The capture of an entry: `gone` when it left meanwhile, `damaged` when it is not whole. */
  read(entry: Entry): Capture | 'gone' | 'damaged' {
    try {
      const file = readWhole(this.#files, this.#queue.pathOf(entry), fileBytesMax)
      return file === undefined ? 'gone' : decodeCapture(file) ?? 'damaged'
    } catch (error) {
      // A link, a pipe or a file that grew is no capture, and must not stop those behind it.
      if (error instanceof SallyportError && error.kind === 'damaged') return 'damaged'
      throw ioFailure(error, 'a capture')
    }
  }

  /** Takes out what the service has. */
  async remove(entry: Entry): Promise<void> {
    await this.#locked('the spool', async () => this.#drop(entry))
  }

  /** Puts aside what the service will never take; `reason` is a name such as `mime_differs`. */
  async setAside(entry: Entry, reason: string): Promise<void> {
    await this.#locked('the spool', async () => {
      const path = this.#queue.pathOf(entry)
      const bytes = this.#files.stat(path)?.size
      if (bytes === undefined) return
      this.#forget(entry, path)
      const { cameMs, requestId } = entry
      this.#aside.take(path, { cameMs, bytes, requestId, reason })
      this.#queue.left(entry)
    })
  }

  /** Drops one that must not be sent any more, written down before. */
  async evict(entry: Entry, reason: Eviction['reason']): Promise<Eviction | null> {
    return this.#locked('the spool', async () => this.#evict(entry, reason))
  }

  /** What lies in it, and the last eviction there was. */
  async look(): Promise<{ counts: SpoolCounts; lastEviction: Eviction | null }> {
    return this.#locked('the spool', async () =>
      ({ counts: this.#counts(), lastEviction: this.#evictions.last() }))
  }

  /** Waits for the lock, then makes one change. Leftovers of the dead are swept first. */
  async #locked<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { clock, waitMs, signal, places } = this.#deps
    const untilMs = clock.monotonicMs() + waitMs
    for (;;) {
      const held = orIoFailure(what, () => tryHoldFile(places.spoolLock))
      if (held !== null) {
        try {
          orIoFailure(what, () => this.#sweep())
          return await work()
        } catch (error) {
          throw deviceFailure(error, what)
        } finally {
          held.release()
        }
      }
      if (clock.monotonicMs() >= untilMs) {
        throw fail.locked('spool_locked', 'Another process is changing the spool.', {
          next: 'Try again, or wait longer with --wait SECONDS.', details: { wait_ms: waitMs },
        })
      }
      await clock.sleep(pollMs, signal)
    }
  }

  #counts(extent: Extent | null = this.#queue.extent()): SpoolCounts {
    const aside = this.#aside.all()
    return {
      items: extent?.items ?? 0,
      bytes: (extent?.bytes ?? 0) + aside.reduce((sum, { bytes }) => sum + bytes, 0),
      aside: aside.length,
    }
  }

  /**
   * What waits already under the request id; null for nothing. Other bytes under it are refused,
   * and so is what would be sent otherwise than was asked for.
   */
  #known(facts: CaptureFacts): CaptureFacts | null {
    const path = this.#idPath(facts.request_id)
    const links = lstatSync(path, { throwIfNoEntry: false })?.nlink
    if (links === undefined) return null
    if (links < 2) {
      removeFile(this.#files, path)
      return null
    }
    const start = withFile(this.#files, path, 'read', (fd) =>
      readRange(this.#files, fd, 0, headBytesMax))
    const waits = decodeFacts(start)?.facts
    if (waits !== undefined && compared.every((name) => waits[name] === facts[name])) return waits
    throw fail.conflict('request_id_conflict', 'This request id waits with another capture.', {
      next: 'Leave out --request-id, or give one that was not used.',
    })
  }

  /** Writes a capture behind what waits; gives what waits then. */
  async #write(requestId: string, file: Buffer, extent: Extent | null): Promise<Extent> {
    const { places, clock, at } = this.#deps
    const fresh = join(places.fresh, requestId)
    try {
      withFile(this.#files, fresh, 'create', (fd) => {
        writeAll(this.#files, fd, file, 0)
        this.#files.sync(fd)
      })
      await at('spool.written')
      const entry = this.#queue.next(extent, requestId, file.length, clock.wallMs())
      this.#files.link(fresh, this.#idPath(requestId))
      await at('spool.linked')
      this.#files.rename(fresh, this.#queue.pathOf(entry))
      await at('spool.renamed')
      this.#queue.sync(entry)
      return {
        first: extent?.first ?? entry, last: entry,
        items: (extent?.items ?? 0) + 1, bytes: (extent?.bytes ?? 0) + file.length,
      }
    } catch (error) {
      this.#sweep()
      throw error
    }
  }

  /** Only the holder of the lock writes there: whatever is there now belongs to nobody alive. */
  #sweep(): void {
    const { places } = this.#deps
    for (const name of this.#files.list(places.fresh)) {
      const path = join(places.fresh, name)
      this.#unlinkSame(this.#idPath(name), path)
      removeFile(this.#files, path)
    }
  }

  #idPath(requestId: string): string {
    return join(this.#deps.places.ids, requestId)
  }

  /** Unlinks a name where it is the same file as another. */
  #unlinkSame(path: string, as: string): void {
    const [one, other] = [this.#files.stat(path), this.#files.stat(as)]
    if (one !== undefined && one.ino === other?.ino && one.dev === other.dev) {
      removeFile(this.#files, path)
    }
  }

  #forget(entry: Entry, path: string): void {
    this.#unlinkSame(this.#idPath(entry.requestId), path)
  }

  // The id goes first: a name by which the bytes would stay unseen must not outlive the entry.
  #drop(entry: Entry): void {
    const path = this.#queue.pathOf(entry)
    this.#forget(entry, path)
    removeFile(this.#files, path)
    this.#queue.left(entry)
  }

  #evict(entry: Entry, reason: Eviction['reason']): Eviction | null {
    const path = this.#queue.pathOf(entry)
    const bytes = this.#files.stat(path)?.size
    if (bytes === undefined) return null
    const contacted = contactedRequest(this.#files, this.#deps.places.sending)
    const why = entry.requestId === contacted ? 'may_be_sent' : reason
    const made = this.#evictions.add(this.#record(entry, bytes, why))
    this.#drop(entry)
    return made
  }

  #record(
    { requestId, cameMs }: Pick<Entry, 'requestId' | 'cameMs'>, bytes: number,
    reason: Eviction['reason'],
  ): Omit<Eviction, 'number'> {
    return {
      at: isoFromMs(Math.max(0, this.#deps.clock.wallMs())), request_id: requestId, bytes, reason,
      spooled_at: isoFromMs(cameMs),
    }
  }

  /**
   * Lets the oldest go until `coming` bytes fit (0: nothing comes). The disk never holds more than
   * the limits, not even for a moment, so room is made before the first byte is written.
   */
  #makeRoom(coming: number): { evicted: Eviction[]; extent: Extent | null } {
    const { limits } = this.#deps
    const evicted: Eviction[] = []
    for (;;) {
      const extent = this.#queue.extent()
      const { items, bytes, aside } = this.#counts(extent)
      const one = coming === 0 ? 0 : 1
      const over = items + aside + one > limits.max_items ? 'items'
        : bytes + coming > limits.max_bytes ? 'bytes' : null
      const known = extent === null ? null : this.#ofNow(extent)
      const gone = this.#oldAside(over !== null || aside > asideMax)
        ?? this.#oldFirst(known, over)
      if (gone === null) return { evicted, extent: known }
      evicted.push(gone)
    }
  }

  /** What was put aside goes before what may still be sent. */
  #oldAside(needed: boolean): Eviction | null {
    const [oldest] = this.#aside.all()
    if (oldest === undefined) return null
    const reason = needed ? 'aside' : this.#isOld(oldest.cameMs) ? 'age' : null
    if (reason === null) return null
    const made = this.#evictions.add(this.#record(oldest, oldest.bytes, reason))
    removeFile(this.#files, this.#aside.pathOf(oldest))
    return made
  }

  #oldFirst(extent: Extent | null, over: 'items' | 'bytes' | null): Eviction | null {
    if (extent === null) return null
    const reason = this.#isOld(extent.first.cameMs) ? 'age' : over
    return reason === null ? null : this.#evict(extent.first, reason)
  }

  /** What a clock that was ahead stamped counts from now, not from a day that never came. */
  #ofNow(extent: Extent): Extent {
    const now = this.#deps.clock.wallMs()
    if (extent.first.cameMs <= now + futureMs) return extent
    const first = this.#queue.restamp(extent.first, now)
    return { ...extent, first, last: extent.items === 1 ? first : extent.last }
  }

  #isOld(cameMs: number): boolean {
    return this.#deps.clock.wallMs() - cameMs > this.#deps.limits.max_age_seconds * 1000
  }
}

/** What is wrong in the folder of a device is no damage of a state: no check of one mends it. */
const deviceFailure = (error: unknown, what: string): SallyportError => {
  if (!(error instanceof SallyportError)) return ioFailure(error, what)
  if (error.kind !== 'damaged') return error
  const text = `${error.message} It lies in the folder of the device.`
  return fail.failed('edge_folder_damaged', text, {
    next: 'Move it away and run the command again.', details: error.details, cause: error,
  })
}
