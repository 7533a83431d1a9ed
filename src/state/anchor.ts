/**
 * The anchor: a sealed file outside the state directory that remembers the last mark. A copy of an
 * old state, put back, is behind it; a state with another history does not match it.
 *
 * A process that is going to move it makes the file anew first, with the mark that it holds in both
 * slots; from then on that process alone writes into this file, into the slot that does not hold
 * the newest mark, and makes it durable by one sync. So at every moment one slot that seals is
 * durable, and it is behind the newest mark by the one that is being written at most. A file that
 * another process made may hold what was never synced: nobody writes into it, and nothing rests on
 * it.
 */
import { SallyportError } from '../base/errors.js'
import {
  anchorBytes, encodeSlot, readingOf, slotBytes, type Anchored, type Reading,
} from './anchor-slots.js'
import { ioFailure, publish, readRange, readWhole, writeAll, type Files } from './files.js'
import type { KeyRing } from './keys.js'
import { fileBytesMax } from './limits.js'
import type { Mark } from './snapshot/manifest.js'
import type { AnchorStatus } from './types.js'

/** Makes the anchor anew, at a mark; durable when it returns. Gives what it holds. */
export const writeAnchor = (
  files: Files, path: string, keys: KeyRing, storeId: string, mark: Mark,
): Buffer => {
  const slot = encodeSlot(keys, storeId, mark)
  const bytes = Buffer.concat([slot, slot])
  publish(files, path, bytes)
  return bytes
}

/** The anchored mark, or why there is none to believe. */
export const readAnchor = (files: Files, path: string, keys: KeyRing, storeId: string): Reading => {
  const bytes = readWhole(files, path, fileBytesMax.anchor)
  return bytes === undefined ? 'missing' : readingOf(bytes, keys, storeId)
}

/** A file of an anchor that this process has made and that nobody else writes into. */
class OwnFile {
  readonly #files: Files
  readonly #fd: number
  /** All that it holds. */
  readonly #bytes: Buffer
  /** Which slot the next mark goes into; the newest is in the other one. */
  #next: 0 | 1 = 1
  #reading: Reading

  constructor(files: Files, path: string, bytes: Buffer, mark: Mark) {
    this.#files = files
    this.#fd = files.open(path, 'readwrite')
    this.#bytes = bytes
    this.#reading = { ...mark, torn: false }
  }

  get reading(): Reading {
    return this.#reading
  }

  /** Whether it still stands at the path, and nobody has changed a byte of it. */
  isAt(path: string): boolean {
    const there = this.#files.stat(path)
    const { dev, ino, size } = this.#files.fstat(this.#fd)
    return there?.ino === ino && there.dev === dev && size === anchorBytes
      && readRange(this.#files, this.#fd, 0, anchorBytes).equals(this.#bytes)
  }

  /** Puts a mark into the slot that does not hold the newest; durable when it returns. */
  put(slot: Buffer, mark: Mark): void {
    const at = this.#next * slotBytes
    writeAll(this.#files, this.#fd, slot, at)
    this.#files.syncData(this.#fd)
    slot.copy(this.#bytes, at)
    this.#next = this.#next === 0 ? 1 : 0
    this.#reading = { ...mark, torn: false }
  }

  close(): void {
    this.#files.close(this.#fd)
  }
}

/** The anchor of one store. */
export interface Anchor {
  /** The anchored mark, or why there is none to believe (a missing key is a missing anchor). */
  read(): Reading
  /**
   * Makes the file anew where another process made it, at the mark that it holds: before a record
   * is written behind which an anchor that was never synced would be too old. Durable when it
   * returns. The lock must be held.
   */
  take(): void
  /** Moves it to a mark; durable when it returns. The lock must be held. */
  move(mark: Mark): void
  /**
   * Runs `fn`, for which the file is opened once at most: for whoever holds the lock, under which
   * nobody else moves it.
   */
  heldStill<T>(fn: () => T): T
  close(): void
}

class FileAnchor implements Anchor {
  readonly #files: Files
  readonly #path: string
  readonly #keys: KeyRing
  readonly #storeId: string
  #still = false
  /** What it is while it is held still. */
  #known: Reading | undefined
  /** What was read last, so that a seal is computed once: the bytes decide, no time of theirs. */
  #last: { readonly bytes: Buffer; readonly reading: Reading } | undefined
  #own: OwnFile | undefined

  constructor(files: Files, path: string, keys: KeyRing, storeId: string) {
    this.#files = files
    this.#path = path
    this.#keys = keys
    this.#storeId = storeId
  }

  read(): Reading {
    return this.#keep(this.#known ?? this.#look())
  }

  #keep(reading: Reading): Reading {
    this.#known = this.#still ? reading : undefined
    return reading
  }

  #look(): Reading {
    try {
      if (this.#own?.isAt(this.#path) === true) return this.#own.reading
      const bytes = readWhole(this.#files, this.#path, fileBytesMax.anchor)
      if (bytes === undefined) return 'missing'
      if (this.#last?.bytes.equals(bytes) === true) return this.#last.reading
      const reading = readingOf(bytes, this.#keys, this.#storeId)
      this.#last = { bytes, reading }
      return reading
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'key_missing') return 'missing'
      throw ioFailure(error, 'reading the anchor')
    }
  }

  /** Whether what was found is the file that this process made. */
  #isOwn(found: Reading): boolean {
    return found === this.#own?.reading
  }

  take(): void {
    const found = this.read()
    if (typeof found !== 'string' && !this.#isOwn(found)) this.#make(found)
  }

  move(mark: Mark): void {
    const found = this.read()
    this.#known = undefined
    if (this.#own === undefined || !this.#isOwn(found)) return this.#make(mark)
    this.#own.put(encodeSlot(this.#keys, this.#storeId, mark), mark)
    this.#keep(this.#own.reading)
  }

  #make({ number, sequence, chain, policy_revision }: Mark): void {
    const mark = { number, sequence, chain, policy_revision }
    this.#known = undefined
    this.close()
    const bytes = writeAnchor(this.#files, this.#path, this.#keys, this.#storeId, mark)
    this.#own = new OwnFile(this.#files, this.#path, bytes, mark)
    this.#keep(this.#own.reading)
  }

  heldStill<T>(fn: () => T): T {
    this.#still = true
    try {
      return fn()
    } finally {
      this.#still = false
      this.#known = undefined
    }
  }

  close(): void {
    this.#own?.close()
    this.#own = undefined
  }
}

/** The anchor in the file at `path`; the key is read when it is first needed. */
export const anchorAt = (
  files: Files, path: string, keys: KeyRing, storeId: string,
): Anchor => new FileAnchor(files, path, keys, storeId)

/** Whether two readings of one anchor found it where it was. */
export const sameMark = (before: Reading, after: Reading): boolean =>
  typeof before === 'string' || typeof after === 'string'
    ? before === after
    : before.number === after.number && before.chain === after.chain
      && before.torn === after.torn

/** How far the newest mark is ahead of the anchored one, where both are of one history. */
const aheadOf = (anchored: Anchored, marks: readonly Mark[]): number | undefined => {
  const same = marks.findLast((mark) => mark.number === anchored.number)
  const last = marks.at(-1)
  return same?.chain === anchored.chain && last !== undefined
    ? last.number - anchored.number : undefined
}

/**
 * How an anchored mark compares with the marks of a store (oldest first, at least one). A
 * restore or a loss sets `floor` above every earlier mark: until the anchor has been moved beyond
 * it, which only their hooks can do, the store counts as behind. A slot that does not seal was torn
 * while the next mark was written into it, or else the log would end where the other slot says:
 * that one is `forged`.
 */
export const compareAnchor = (
  anchored: Reading, marks: readonly Mark[], floor: number,
): { readonly status: AnchorStatus; readonly oneAhead: boolean } => {
  if (anchored === 'missing' || anchored === 'forged') return { status: anchored, oneAhead: false }
  const last = marks.at(-1)
  const waits = floor > 0 && anchored.number <= floor
  if (last === undefined || waits || last.number < anchored.number) {
    return { status: 'behind', oneAhead: false }
  }
  const ahead = aheadOf(anchored, marks)
  if (ahead === undefined || ahead > 1) return { status: 'forked', oneAhead: false }
  if (ahead === 0 && anchored.torn) return { status: 'forged', oneAhead: false }
  return { status: 'ok', oneAhead: ahead === 1 }
}
