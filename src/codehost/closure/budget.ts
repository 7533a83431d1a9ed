/**
 * What reading evidence may take, counted for the whole operation and for all of its requests
 * together: requests when they are begun, bytes of replies while they come, bytes of objects when
 * they are decoded (C-221 to C-223, C-229, C-232 to C-234).
 */
import type { ClosureBlocker } from './blockers.js'
import type { ReadLimits } from './closure-limits.js'

/** What a request may take. */
export interface Allowance {
  readonly bytesMax: number
  /** Counts bytes of its reply; false where the operation has no more. */
  take(bytes: number): boolean
  /** Why a reply of it is too large: because of itself, or of all replies together. */
  beyond(): ClosureBlocker
}

/** Counters of one operation. */
export class ReadBudget {
  readonly #limits: ReadLimits
  readonly #decodedBytesMax: number
  #gets = 0
  #raw = 0
  #decoded = 0

  constructor(limits: ReadLimits & { readonly decodedBytesMax?: number }) {
    this.#limits = limits
    this.#decodedBytesMax = limits.decodedBytesMax ?? Number.MAX_SAFE_INTEGER
  }

  /** Requests begun. */
  get gets(): number {
    return this.#gets
  }

  /** Bytes of replies, as they came. */
  get rawBytes(): number {
    return this.#raw
  }

  /** Bytes of objects, decoded. */
  get decodedBytes(): number {
    return this.#decoded
  }

  /** Begins a request; a text is why it may not be begun. */
  begin(replyBytesMax: number = this.#limits.replyBytesMax): Allowance | ClosureBlocker {
    const { getsMax, rawBytesMax } = this.#limits
    if (this.#gets >= getsMax) return 'gets_exceeded'
    const left = rawBytesMax - this.#raw
    if (left <= 0) return 'bytes_exceeded'
    this.#gets += 1
    const bytesMax = Math.min(replyBytesMax, left)
    let over = bytesMax < replyBytesMax
    return {
      bytesMax,
      take: (bytes) => {
        this.#raw += bytes
        if (this.#raw <= rawBytesMax) return true
        over = true
        return false
      },
      beyond: () => (over ? 'bytes_exceeded' : 'readback_too_large'),
    }
  }

  /** Counts bytes of an object; whether the operation had room for them. */
  decode(bytes: number): boolean {
    this.#decoded += bytes
    return this.#decoded <= this.#decodedBytesMax
  }
}
