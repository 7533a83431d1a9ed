/**
 * What is known of histories whose rows were lost. A repair or a restore notes the ranges of the
 * keyspace that it could not read; a history there is never taken for an empty one.
 */
import { msFromIso } from '../../base/clock.js'
import { msOfUuid7 } from '../../base/ids.js'
import { compareKeys, type Key } from '../segments/row.js'
import { isHistoryName, type LostRanges } from './spec.js'

type LostRange = LostRanges['ranges'][number]

/** More ranges than this are united into one: nothing in it is believed then. */
const rangesMax = 256

const keyAt = ([collection, id]: readonly [string, string]): Key => ({ collection, id })

/** Whether a collection of a history lies, or may have lain, between the two ends of a range. */
const mayHoldHistory = ({ from, to }: LostRange): boolean =>
  from[0] !== to[0] || isHistoryName(from[0])

const united = (ranges: readonly LostRange[]): LostRange[] => {
  const [first] = ranges
  if (first === undefined || ranges.length <= rangesMax) return [...ranges]
  return [ranges.reduce((all, one) => ({
    at: one.at > all.at ? one.at : all.at,
    from: compareKeys(keyAt(one.from), keyAt(all.from)) < 0 ? one.from : all.from,
    to: compareKeys(keyAt(one.to), keyAt(all.to)) > 0 ? one.to : all.to,
  }), first)]
}

/** The noted ranges with `lost` added; undefined where none of those may hold a history. */
export const withLost = (
  known: LostRanges | undefined, lost: readonly LostRange[],
): LostRanges | undefined => {
  const added = lost.filter(mayHoldHistory)
  if (added.length === 0) return undefined
  return { ranges: united([...known?.ranges ?? [], ...added]) }
}

/** Whether a key says itself (by a UUID of version 7 at its end) that it was made after a time. */
const isLater = (key: string, at: string): boolean =>
  (msOfUuid7(key.slice(-36)) ?? 0) > msFromIso(at)

/**
 * Whether rows of a collection that belong to a key (its head, or its entries) may have been lost.
 * They lie from `<key>/` to before `<key>0`, since `0` follows `/`.
 */
export const mayBeLost = (
  { ranges }: LostRanges, collection: string, key: string,
): boolean => ranges.some(({ at, from, to }) =>
  compareKeys(keyAt(from), { collection, id: `${key}0` }) < 0 &&
  compareKeys(keyAt(to), { collection, id: `${key}/` }) > 0 && !isLater(key, at))
