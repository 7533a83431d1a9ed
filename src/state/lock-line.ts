/**
 * Who tries the lock of a state next. The kernel's lock knows no order: a process that gives it
 * back and takes it again at once starves whoever polls. So waiters stand in line, in files of
 * their own that the kernel locks like the lock itself: a dead one leaves no trace, and no clock is
 * asked. The line decides only who tries; the lock alone decides who has it.
 *
 * `lock-line` is held by all who wait, together; whoever gets it alone knows that nobody does.
 * `lock-line.first` belongs to somebody who goes first: while it is held nobody else tries.
 * `lock-line.01` to `.16` are a staircase: a newcomer enters at the far end and goes on when the
 * stair before him is free, so nobody is overtaken on it. A process that stopped on its stair holds
 * nobody up for long: after `patience` looks without a step one tries from where one stands.
 */
import { dirname } from 'node:path'
import type { Files } from './files.js'
import { tryLockFd, unlockFd, type LockKind } from './kernel-lock.js'

const stairs = 16
const frontStair = 1
/** Looks without a step after which somebody ahead is taken for stopped. */
const patience = 50

/** Which file of the line: everybody's, that of who goes first, or a stair. */
type Part = 'all' | 'first' | number

/** The files of one line, opened when they are needed and open until the line is closed. */
export class LineFiles {
  readonly #files: Files
  readonly #path: string
  readonly #open = new Map<Part, number>()

  private constructor(files: Files, path: string) {
    this.#files = files
    this.#path = path
  }

  /**
   * The line at a path; undefined where it cannot be had, also where its folder is a link, behind
   * which nothing may be made: then there is no order.
   */
  static at(files: Files, path: string): LineFiles | undefined {
    if (files.stat(dirname(path))?.kind !== 'dir') return undefined
    const line = new LineFiles(files, path)
    return line.#fd('all') === undefined ? undefined : line
  }

  /** False for a file that cannot be opened, too: whoever needs it goes on by patience. */
  tryTake(part: Part, kind?: LockKind): boolean {
    const fd = this.#fd(part)
    return fd !== undefined && tryLockFd(fd, kind)
  }

  give(part: Part): void {
    const fd = this.#open.get(part)
    if (fd !== undefined) unlockFd(fd)
  }

  close(): void {
    for (const fd of this.#open.values()) this.#files.close(fd)
    this.#open.clear()
  }

  #fd(part: Part): number | undefined {
    const known = this.#open.get(part)
    if (known !== undefined) return known
    const end = typeof part === 'number' ? String(part).padStart(2, '0') : part
    try {
      const fd = this.#files.open(part === 'all' ? this.#path : `${this.#path}.${end}`, 'lock')
      this.#open.set(part, fd)
      return fd
    } catch {
      return undefined
    }
  }
}

/** A place in line, one for each taking of the lock. */
export interface LockLine {
  /**
   * Takes all of the line at once, where nobody stands in it: then the lock may be tried. To be
   * left before anything is waited for.
   */
  takeWhole(): boolean
  /** One look: steps on where that is possible; true when the lock may be tried. */
  mayTry(): boolean
  /** Whether nobody stands before this one, so that it is worth looking often. */
  readonly atFront: boolean
  /** The end of this place: it is not taken again. */
  leave(): void
}

/**
 * A place in the line of some files, which are its own until it leaves: the kernel gives one open
 * file its lock twice, and one unlocking takes it from both. `first`: nobody else tries while this
 * one waits.
 */
export class KernelLine implements LockLine {
  readonly #files: LineFiles
  readonly #first: boolean
  readonly #left: () => void
  #waits = false
  #stair: number | undefined
  #looks = 0

  constructor(files: LineFiles, first: boolean, left = (): void => undefined) {
    this.#files = files
    this.#first = first
    this.#left = left
  }

  get atFront(): boolean {
    return this.#first || this.#stair === frontStair
  }

  takeWhole(): boolean {
    return this.#files.tryTake('all')
  }

  mayTry(): boolean {
    if (this.#first) {
      this.#files.tryTake('first')
      this.#wait()
      return true
    }
    const before = this.#stair
    this.#climb()
    this.#wait()
    this.#looks = this.#stair === before ? this.#looks + 1 : 0
    if (this.#stair === frontStair && this.#nobodyFirst()) return true
    return this.#looks > patience
  }

  #climb(): void {
    if (this.#stair === undefined) this.#enter()
    while (this.#stair !== undefined && this.#stair > frontStair) {
      if (!this.#files.tryTake(this.#stair - 1)) return
      this.#files.give(this.#stair)
      this.#stair -= 1
    }
  }

  /** Where nobody waits the front is taken at once; else the far end, as soon as that is free. */
  #enter(): void {
    if (!this.#waits && this.takeWhole()) {
      if (this.#files.tryTake(frontStair)) this.#stair = frontStair
      this.#wait()
    } else if (this.#wait() && this.#files.tryTake(stairs)) {
      this.#stair = stairs
    }
  }

  /** Says that somebody waits; false while another has the line alone, which is a moment. */
  #wait(): boolean {
    this.#waits ||= this.#files.tryTake('all', { shared: true })
    return this.#waits
  }

  #nobodyFirst(): boolean {
    if (!this.#files.tryTake('first')) return false
    this.#files.give('first')
    return true
  }

  leave(): void {
    this.#files.give('all')
    if (this.#first) this.#files.give('first')
    if (this.#stair !== undefined) this.#files.give(this.#stair)
    this.#waits = false
    this.#stair = undefined
    this.#left()
  }
}
