/**
 * The clock of a state that machines share: this machine's, moved to where the place's stands. What
 * rows say of time is then one clock's on all machines. Whoever only reads goes by the last answer.
 */
import type { Clock } from '../../base/clock.js'
import { placeTimes } from './place.js'

/** See above. */
export class PlaceClock implements Clock {
  readonly #own: Clock
  #apartMs: number
  #isTold = false

  /** @param apartMs how far the place's was ahead when it was heard last, as far as is known */
  constructor(own: Clock, apartMs: number) {
    this.#own = own
    this.#apartMs = apartMs
  }

  /** How far the place's clock is ahead of this machine's, ms. */
  get apartMs(): number {
    return this.#apartMs
  }

  /** Whether an answer to this process told it exactly enough (`placeTimes.clockWithinMs`). */
  get isTold(): boolean {
    return this.#isTold
  }

  wallMs(): number {
    return this.#own.wallMs() + this.#apartMs
  }

  monotonicMs(): number {
    return this.#own.monotonicMs()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal)
  }

  /**
   * Takes in a moment of the place that lay between two of this machine's own wall clock. What is
   * known already stays wherever it can be true, so that time does not jump to and fro.
   */
  hear(placeMs: number, beforeMs: number, afterMs: number): void {
    const [least, most] = [placeMs - afterMs, placeMs - beforeMs]
    const isExact = (most - least) / 2 <= placeTimes.clockWithinMs
    if (isExact && !this.#isTold) {
      this.#apartMs = (least + most) / 2
      this.#isTold = true
    }
    this.#apartMs = Math.min(Math.max(this.#apartMs, least), most)
  }
}
