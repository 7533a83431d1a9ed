/** Stops that were recorded lately: what a request that is leaving compares itself with. */
import type { Tx, View } from '../../state/types.js'
import { collections, type StopHead } from '../rows.js'
import type { Aim } from './stop.js'

const headId = 'the'
/** Newest stops that a request under way can still be compared with. */
const recentMax = 64

const headOf = (view: View): StopHead =>
  view.get(collections.stopHead, headId) ?? { count: 0, recent: [] }

/** How many stops took effect by a record so far. */
export const stopsRecorded = (view: View): number => headOf(view).count

/** Those that did since `count`; `too_many` where the oldest of them are not known any more. */
export const recordedSince = (view: View, count: number): readonly Aim[] | 'too_many' => {
  const head = headOf(view)
  // A store that was put back counts anew.
  if (head.count < count || head.count - count > head.recent.length) return 'too_many'
  return head.recent.filter(({ number }) => number > count)
}

/** Notes one more, in the record that gives it effect. */
export const noteRecorded = (tx: Tx, { kind, target }: Aim): void => {
  const { count, recent } = headOf(tx)
  const number = count + 1
  tx.put(collections.stopHead, headId, {
    count: number, recent: [...recent, { number, kind, target }].slice(-recentMax),
  })
}
