/**
 * What rests on rows and on nothing else is worked out once for each state of the rows. Never for
 * what also rests on a clock, on a file beside the rows or on another process: that is asked for
 * anew whenever it matters.
 */
import type { View } from './types.js'

/**
 * As `compute`, which must be a pure function of the rows of a view and of a key: what it gave for
 * a key is given again while nobody has written. What throws is asked again. In a transaction
 * that has changed rows nothing is remembered: its own changes are no rows yet.
 */
export const ofRows = <T>(
  compute: (view: View, key: string) => T,
): ((view: View, key: string) => T) => {
  const known = new WeakMap<object, Map<string, T>>()
  return (view, key) => {
    const { rows } = view
    if (rows === undefined) return compute(view, key)
    let ofThese = known.get(rows)
    if (ofThese === undefined) {
      ofThese = new Map()
      known.set(rows, ofThese)
    }
    const before = ofThese.get(key)
    if (before !== undefined) return before
    const value = compute(view, key)
    ofThese.set(key, value)
    return value
  }
}
