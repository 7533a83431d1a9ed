/** How many rows there are for each reason. */
import type { BlockedReasons } from '../receipts/analysis.js'

/** Stands for the reason of a row that has none. */
export const notRecorded = 'not_recorded'

/** Numbers by reason. */
export class ReasonCounts {
  readonly #counts = new Map<string, number>()

  add(reason: string, count: number): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count)
  }

  /** Most first. */
  list(): BlockedReasons {
    return [...this.#counts].map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count)
  }
}
