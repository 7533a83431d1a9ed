/**
 * The ids that the logs have touched in one collection, in their order: sorted when a range is
 * first asked for, kept so while more are added. A range of a few rows costs no look at all others.
 */
import { isWithin, type Bounds } from '../segments/read-segment.js'
import { compareKeys } from '../segments/row.js'

/** Beyond so many an id in between would cost more than it saves. */
const keptMax = 16_384

/** Index of the first of some ids that `isBehind` is true of; it must be of all behind it. */
const firstOf = (ids: readonly string[], isBehind: (id: string) => boolean): number => {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBehind(ids[middle] ?? '')) high = middle
    else low = middle + 1
  }
  return low
}

/** The ids of one collection. */
export class IdOrder {
  #ids: string[] | undefined

  /** Takes in one that was not there. */
  add(id: string): void {
    const ids = this.#ids
    if (ids === undefined) return
    if (ids.length >= keptMax) this.#ids = undefined
    else ids.splice(firstOf(ids, (other) => other > id), 0, id)
  }

  /** Those within bounds, ascending; `all`: every id of the collection. */
  within(all: ReadonlyMap<string, unknown>, collection: string, bounds: Bounds): readonly string[] {
    if (all.size > keptMax) {
      return [...all.keys()].filter((id) => isWithin({ collection, id }, bounds)).sort()
    }
    this.#ids ??= [...all.keys()].sort()
    const { low, lowOpen = false, high } = bounds
    const from = low === undefined ? 0 : firstOf(this.#ids, (id) => {
      const order = compareKeys({ collection, id }, low)
      return order > 0 || (order === 0 && !lowOpen)
    })
    const to = high === undefined ? this.#ids.length : firstOf(this.#ids, (id) =>
      compareKeys({ collection, id }, high) >= 0)
    return this.#ids.slice(from, Math.max(from, to))
  }
}
