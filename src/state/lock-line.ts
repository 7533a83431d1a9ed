/**
 * Who tries the lock of a state next. The kernel's lock knows no order: a process that gives it
 * back and takes it again at once starves whoever polls. So waiters stand in line, in a second file
 * whose bytes are locked by the kernel like the lock itself: a dead one leaves no trace, and no
 * clock is asked. The line decides only who tries; the lock alone decides who has it.
 *
 * Byte 0 belongs to somebody who goes first: while it is held nobody else tries. Bytes 1 to
 * `stairs` are a staircase: a newcomer enters at the far end and goes on when the stair before him
 * is free, so nobody is overtaken on it. A process that stopped on its stair holds nobody up for
 * long: after `patience` looks without a step one tries from where one stands.
 */
import type { Files } from './files.js'
import { tryLockRange, unlockRange } from './kernel-lock.js'

const stairs = 16
const firstByte = 0
const frontStair = 1
const wholeLine = stairs + 1
/** Looks without a step after which somebody ahead is taken for stopped. */
const patience = 50

/** A place in line, taken and left again for each taking of the lock. */
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
  leave(): void
}

/** The line in an open file. `first`: nobody else tries while this one waits. */
export class KernelLine implements LockLine {
  readonly #fd: number
  readonly #first: boolean
  #stair: number | undefined
  #looks = 0

  constructor(fd: number, first: boolean) {
    this.#fd = fd
    this.#first = first
  }

  get atFront(): boolean {
    return this.#first || this.#stair === frontStair
  }

  takeWhole(): boolean {
    return tryLockRange(this.#fd, firstByte, wholeLine)
  }

  mayTry(): boolean {
    if (this.#first) {
      tryLockRange(this.#fd, firstByte, 1)
      return true
    }
    const before = this.#stair
    this.#climb()
    this.#looks = this.#stair === before ? this.#looks + 1 : 0
    if (this.#stair === frontStair && this.#nobodyFirst()) return true
    return this.#looks > patience
  }

  #climb(): void {
    if (this.#stair === undefined) this.#enter()
    while (this.#stair !== undefined && this.#stair > frontStair) {
      if (!tryLockRange(this.#fd, this.#stair - 1, 1)) return
      unlockRange(this.#fd, this.#stair, 1)
      this.#stair -= 1
    }
  }

  /** Where nobody waits the front is taken at once; else the far end, as soon as that is free. */
  #enter(): void {
    if (this.takeWhole()) {
      unlockRange(this.#fd, firstByte, 1)
      unlockRange(this.#fd, frontStair + 1, stairs - frontStair)
      this.#stair = frontStair
    } else if (tryLockRange(this.#fd, stairs, 1)) {
      this.#stair = stairs
    }
  }

  #nobodyFirst(): boolean {
    if (!tryLockRange(this.#fd, firstByte, 1)) return false
    unlockRange(this.#fd, firstByte, 1)
    return true
  }

  leave(): void {
    unlockRange(this.#fd, firstByte, wholeLine)
    this.#stair = undefined
  }
}

/** The file of the line; undefined where it cannot be had: then there is no order, as before. */
export const openLine = (files: Files, path: string): number | undefined => {
  try {
    return files.open(path, 'lock')
  } catch {
    return undefined
  }
}
