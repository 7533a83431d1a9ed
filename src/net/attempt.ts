import type { Clock } from '../base/clock.js'
import { ContactError, type ContactCode } from './contact-error.js'
import type { ContactProof } from './types.js'

/** Longest time one timer can hold; a longer request is a mistake in the caller. */
const timeoutMsMax = 2 ** 31 - 1

/**
 * One request from its first check to its end: its deadline, its cancellation and what is proved
 * about contact so far. The deadline is monotonic and covers everything, so a reply that drips one
 * byte at a time ends like one that never comes.
 */
export class Attempt {
  /** `possible` from the moment before the first request byte is handed over. */
  contact: ContactProof = 'none'
  readonly host: string
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #timeoutMs: number
  readonly #stop = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = (): void => this.#stop.abort('cancelled')

  constructor(clock: Clock, host: string, timeoutMs: number, outer: AbortSignal | undefined) {
    if (!(timeoutMs <= timeoutMsMax)) throw new RangeError('timeoutMs is not a number of range')
    this.host = host
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#deadlineMs = clock.monotonicMs() + timeoutMs
    this.#outer = outer
    if (outer?.aborted === true) this.#stop.abort('cancelled')
    outer?.addEventListener('abort', this.#onAbort, { once: true })
    clock.sleep(Math.max(0, timeoutMs), this.#stop.signal).then(
      () => this.#stop.abort('timeout'),
      () => undefined,
    )
  }

  /** Aborted when the request is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Ends timers and listeners; safe to call twice. */
  end(): void {
    this.#outer?.removeEventListener('abort', this.#onAbort)
    this.#stop.abort('ended')
  }

  /** Calls back in so many milliseconds, unless `given` is aborted before. */
  after(ms: number, given: AbortSignal, callback: () => void): void {
    this.#clock.sleep(ms, given).then(callback, () => undefined)
  }

  /** An error of this attempt with its present proof. */
  failure(code: ContactCode, message: string, details = {}): ContactError {
    return new ContactError(code, this.contact, message, { host: this.host, ...details })
  }

  /** Throws when the time is over or the caller has cancelled. */
  check(): void {
    if (!this.signal.aborted && this.#clock.monotonicMs() >= this.#deadlineMs) {
      this.#stop.abort('timeout')
    }
    if (this.signal.aborted) throw this.#ended()
  }

  /** Waits for work, but not beyond the end of the attempt. Late failures of it are dropped. */
  async during<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined)
    this.check()
    let onAbort = (): void => undefined
    const over = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(this.#ended())
      this.signal.addEventListener('abort', onAbort, { once: true })
    })
    try {
      const result = await Promise.race([work, over])
      this.check()
      return result
    } finally {
      this.signal.removeEventListener('abort', onAbort)
    }
  }

  /** Runs a callback of the caller. What it throws goes on unchanged. */
  async ask(callback: () => void | Promise<void>): Promise<void> {
    this.check()
    await this.during((async () => callback())())
  }

  /** The same for a callback that writes: it is always waited for, so no mark lands later. */
  async askToTheEnd(callback: () => void | Promise<void>): Promise<void> {
    this.check()
    await callback()
    this.check()
  }

  #ended(): ContactError {
    return this.signal.reason === 'cancelled'
      ? this.failure('cancelled', 'The request was cancelled.')
      : this.failure('timeout', `The host ${this.host} did not answer in time.`, {
          timeout_ms: this.#timeoutMs,
        })
  }
}
