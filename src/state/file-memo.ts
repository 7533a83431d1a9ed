/**
 * Whether a file is still what was read of it, told by its facts alone: for a process that stays
 * open and asks at every request.
 */
import { systemClock } from '../base/clock.js'

/** The facts of a file by which it is known again. `size` in bytes, `mtimeMs` since 1970. */
interface KnownBy {
  readonly size: number
  readonly mtimeMs: number
  readonly dev: number
  readonly ino: number
}

/**
 * Times of files are coarse: one that changed a moment before it was read may change again and
 * have the same one. A file that stood still for so long, ms, cannot.
 */
const settledMs = 1_000

/** Whether two looks found the same file with nothing written to it in between. */
const isSame = (a: KnownBy, b: KnownBy): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs

/** What was made of the bytes of one file. Made once for each file. */
export class FileMemo<T> {
  #kept: { readonly facts: KnownBy; readonly value: T } | null = null

  /**
   * What `read` made of the file before, or what it makes now. `facts` are looked at before: what
   * comes between the two looks is a change that the next look sees.
   */
  of(facts: KnownBy, read: () => T): T {
    if (this.#kept !== null && isSame(this.#kept.facts, facts)) return this.#kept.value
    const value = read()
    const { size, mtimeMs, dev, ino } = facts
    const isSettled = systemClock.wallMs() - mtimeMs > settledMs
    this.#kept = isSettled ? { facts: { size, mtimeMs, dev, ino }, value } : null
    return value
  }
}
