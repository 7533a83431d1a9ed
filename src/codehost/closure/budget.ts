/**
 * What reading evidence may take, counted for the whole operation: requests when they are begun,
 * bytes while they come. A request is given no more bytes than are left (C-221 to C-223, C-229,
 * C-232 to C-234).
 */
import type { ClosureBlocker } from './blockers.js'
import type { ReadLimits } from './limits.js'

/** What a request may take. */
export interface Allowance {
  readonly bytesMax: number
  /** Why it is that much: told where a reply is larger. */
  readonly beyond: ClosureBlocker
}

/** Counters of one operation. */
export class ReadBudget {
  readonly #limits: ReadLimits
  #gets = 0
  #raw = 0
  /** Bytes that replies under way may still bring. */
  #promised = 0

  constructor(limits: ReadLimits) {
    this.#limits = limits
  }

  /** Requests begun. */
  get gets(): number {
    return this.#gets
  }

  /** Bytes of replies, as they came. */
  get rawBytes(): number {
    return this.#raw
  }

  /** Begins a request; a text is why it may not be begun. */
  begin(): Allowance | ClosureBlocker {
    const { getsMax, rawBytesMax, replyBytesMax } = this.#limits
    if (this.#gets >= getsMax) return 'gets_exceeded'
    const left = rawBytesMax - this.#raw - this.#promised
    if (left <= 0) return 'bytes_exceeded'
    this.#gets += 1
    const bytesMax = Math.min(replyBytesMax, left)
    this.#promised += bytesMax
    return { bytesMax, beyond: bytesMax < replyBytesMax ? 'bytes_exceeded' : 'readback_too_large' }
  }

  /** Ends a request that brought so many bytes. */
  end({ bytesMax }: Allowance, bytes: number): void {
    this.#promised -= bytesMax
    this.#raw += bytes
  }
}
