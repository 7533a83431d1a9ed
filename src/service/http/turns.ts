/**
 * Requests take turns. Each is answered on the one thread that also reads uploads and tells that
 * the service is alive; fifty that come at once would be answered in one turn of the event loop,
 * and nothing else would be looked at meanwhile.
 */

/** How long requests are answered within one turn of the event loop, ms. */
export const turnMs = 10

/** Lets requests begin, in order of coming, for `turnMs` of each turn of the event loop. */
export class Turns {
  readonly #now: () => number
  /** When no more begin in this turn; null where none has begun. */
  #endsMs: number | null = null

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Resolves once the caller may begin. */
  mine(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#isOver()) resolve()
        else setImmediate(look)
      }
      setImmediate(look)
    })
  }

  #isOver(): boolean {
    const nowMs = this.#now()
    if (this.#endsMs === null) {
      this.#endsMs = nowMs + turnMs
      // Immediates that are set while others run are run in the next turn, this one first of all.
      setImmediate(() => {
        this.#endsMs = null
      })
    }
    return nowMs >= this.#endsMs
  }
}
