/** All runs of a manifest as one sorted table of rows; the newest run wins. */
import { hashesOf } from './filter.js'
import { mergeRows } from './merge.js'
import type { Bounds, HashedKey, OnLost, Segment, StoredRow } from './read-segment.js'
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

/** Blocks of so many rows at a time are kept at hand; more would only push out all others. */
const keptKeysMax = 256

/** A key that is looked for, and which one of them it is. */
interface Wanted extends HashedKey { readonly at: number }

/** Keys, ascending, by the file of a run that may hold them; those of none are left out. */
function* byFile(
  files: RunFiles, keys: readonly Wanted[],
): Generator<readonly [Segment, readonly Wanted[]]> {
  let from = 0
  for (const file of files) {
    while (from < keys.length && isBefore(keys[from], file)) from += 1
    let to = from
    while (to < keys.length && file.spans((keys[to] as Wanted).key)) to += 1
    if (to > from) yield [file, keys.slice(from, to)]
    from = to
  }
}

const isBefore = (wanted: Wanted | undefined, { facts: { first: [collection, id] } }: Segment) =>
  wanted !== undefined && compareKeys(wanted.key, { collection, id }) < 0

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

  /**
   * The same at some keys, ascending. Each block that has some of them is read once; those of a
   * page are kept like those of single rows, and those of a long list are not.
   */
  findMany(keys: readonly Key[]): (StoredRow | undefined)[] {
    const found: (StoredRow | undefined)[] = keys.map(() => undefined)
    let left = keys.map((key, at): Wanted => ({ key, hashes: hashesOf(key), at }))
    const keep = keys.length <= keptKeysMax
    for (const files of this.runs) {
      if (left.length === 0) break
      for (const [file, wanted] of byFile(files, left)) {
        for (const [n, row] of file.getMany(wanted, keep).entries()) {
          found[wanted[n]?.at ?? -1] = row
        }
      }
      left = left.filter(({ at }) => found[at] === undefined)
    }
    return found
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
export const boundsIn = (collection: string, { prefix, after, reverse }: RangeOptions): Bounds => {
  const bounds = boundsOf(collection, prefix)
  if (after === undefined) return bounds
  const key = { collection, id: after }
  if (reverse === true) return compareKeys(key, bounds.high) < 0 ? { ...bounds, high: key } : bounds
  return compareKeys(key, bounds.low) < 0 ? bounds : { ...bounds, low: key, lowOpen: true }
}
