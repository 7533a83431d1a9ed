/**
 * How fast wrong pairing codes are answered. A code has 128 bits, so nobody finds one by trying,
 * and whoever sends wrong ones must not end that of somebody else: a wrong answer beyond a few in
 * one minute is kept back, a right code never is.
 */

/** Wrong answers in one minute that are given at once. */
export const atOnceMax = 5
/** How long each further one is kept back, ms. */
export const keptBackMs = 1_000
const minuteMs = 60_000

/** Counts wrong codes of one service. */
export class WrongCodes {
  #beganMs = Number.NEGATIVE_INFINITY
  #count = 0

  /** Notes one more; answers how long its refusal is kept back, ms. `nowMs` is monotonic. */
  waitMs(nowMs: number): number {
    if (nowMs - this.#beganMs >= minuteMs) {
      this.#beganMs = nowMs
      this.#count = 0
    }
    this.#count += 1
    return this.#count > atOnceMax ? keptBackMs : 0
  }
}
