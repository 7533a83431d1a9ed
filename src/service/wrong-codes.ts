/**
 * How fast wrong pairing codes are answered. A code has 128 bits, so nobody finds one by trying,
 * and whoever sends wrong ones must not end that of somebody else: beyond a few in one minute their
 * refusals go out one by one, however many came at once, and a right code never waits.
 */

/** Wrong answers in one minute that are given at once. */
export const atOnceMax = 5
/** From one further refusal to the next, ms. */
export const keptBackMs = 1_000
/** Nobody is kept waiting for longer, ms; a service has only so many connections. */
export const keptBackMsMax = 30_000
const minuteMs = 60_000

/** Counts wrong codes of one service. */
export class WrongCodes {
  #beganMs = Number.NEGATIVE_INFINITY
  #count = 0
  /** When the last refusal that is kept back goes out. */
  #lastMs = 0

  /** Notes one more; answers how long its refusal is kept back, ms. `nowMs` is monotonic. */
  waitMs(nowMs: number): number {
    if (nowMs - this.#beganMs >= minuteMs) {
      this.#beganMs = nowMs
      this.#count = 0
    }
    this.#count += 1
    if (this.#count <= atOnceMax) return 0
    this.#lastMs = Math.min(Math.max(this.#lastMs, nowMs) + keptBackMs, nowMs + keptBackMsMax)
    return this.#lastMs - nowMs
  }
}
