/** All runs of a manifest as one sorted table of rows; the newest run wins. */
import { hashesOf } from './filter.js'
import { mergeRows } from './merge.js'
import type { Bounds, OnLost, Segment, StoredRow } from './read.js'
import { compareKeys, type Key } from './row.js'
import type { RangeOptions } from '../types.js'

/** One sorted run: its files in order, none overlapping another. */
type RunFiles = readonly Segment[]

const reaches = ({ facts }: Segment, { low, high }: Bounds): boolean => {
  const [first, last] = [facts.first, facts.last]
    .map(([collection, id]) => ({ collection, id })) as [Key, Key]
  return (low === undefined || compareKeys(last, low) >= 0) &&
    (high === undefined || compareKeys(first, high) < 0)
}

/** Rows of one run within bounds. */
export function* scanRun(
  files: RunFiles, bounds: Bounds = {}, reverse = false, onLost?: OnLost,
): Generator<StoredRow> {
  const wanted = files.filter((file) => reaches(file, bounds))
  for (const file of reverse ? wanted.reverse() : wanted) {
    yield* file.scan(bounds, reverse, onLost)
  }
}

/** Reads over runs, the newest first. */
export class Table {
  readonly runs: readonly RunFiles[]

  constructor(runs: readonly RunFiles[]) {
    this.runs = runs
  }

  /** The newest row at a key, which may say that it was removed; undefined where there is none. */
  find(key: Key): StoredRow | undefined {
    const hashes = hashesOf(key)
    for (const files of this.runs) {
      const file = files.find((one) => one.spans(key))
      const row = file?.get(key, hashes)
      if (row !== undefined) return row
    }
    return undefined
  }

  /** The newest row of each key within bounds, removed ones too. */
  scan(bounds: Bounds = {}, reverse = false, onLost?: OnLost): Generator<StoredRow> {
    return mergeRows(this.runs.map((files) => scanRun(files, bounds, reverse, onLost)), reverse)
  }
}

/** The least text above every one that begins with `prefix`; undefined where there is none. */
const above = (prefix: string): string | undefined => {
  for (let end = prefix.length; end > 0; end -= 1) {
    const unit = prefix.charCodeAt(end - 1)
    if (unit < 0xffff) return prefix.slice(0, end - 1) + String.fromCharCode(unit + 1)
  }
  return undefined
}

/** The part of the keyspace that holds the ids of a collection that begin with `prefix`. */
export const boundsOf = (collection: string, prefix = ''): Required<Omit<Bounds, 'lowOpen'>> => {
  const end = above(prefix)
  return {
    low: { collection, id: prefix },
    high: end === undefined
      ? { collection: `${collection}\u0000`, id: '' } : { collection, id: end },
  }
}

/** The keys that a range of a collection may give. */
export const boundsIn = (
  collection: string, { prefix, after, reverse }: RangeOptions,
): Bounds => {
  const bounds = boundsOf(collection, prefix)
  if (after === undefined) return bounds
  const key = { collection, id: after }
  if (reverse === true) return compareKeys(key, bounds.high) < 0 ? { ...bounds, high: key } : bounds
  return compareKeys(key, bounds.low) < 0 ? bounds : { ...bounds, low: key, lowOpen: true }
}
