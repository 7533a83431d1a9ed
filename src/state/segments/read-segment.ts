/**
 * Reads one segment file. Nothing is believed before its digest was compared: index and filter with
 * what the manifest says of them, a block with what the index says of it.
 */
import { hash } from 'node:crypto'
import { fail, SallyportError } from '../../base/errors.js'
import { isIndexName } from '../indexes.js'
import type { IndexLine, SegmentFacts } from './build.js'
import { IndexLines } from './index-lines.js'
import { mayHold } from './filter.js'
import { compareKeys, lineOf, rowOf, type Key, type Row } from './row.js'

/** A row as it was read; `version` is for whoever keeps what was made of its text. */
export interface StoredRow extends Row { version?: unknown }

/** Part of the keyspace; without a member there is no limit on that side. */
export interface Bounds {
  readonly low?: Key
  /** The key at `low` is not meant itself. */
  readonly lowOpen?: boolean
  /** Every key is below this one. */
  readonly high?: Key
}

/** The bytes of a segment file, and which file it is. */
interface SegmentSource {
  readonly facts: SegmentFacts
  /**
   * Fewer bytes where the file ends; throws where the file cannot be read. They may be others from
   * the next read of any file on.
   */
  read(position: number, length: number): Buffer
}

/** Bytes of a segment that are not what they were: every row from `from` to before `to`. */
export interface LostRows {
  readonly name: string
  readonly from: Key
  /** Undefined: up to the last key of the file. */
  readonly to: Key | undefined
}

/** What to do with rows that cannot be read; the default throws `damaged`. */
export type OnLost = (lost: LostRows) => void

/** Damage of a snapshot file, whatever part of it. */
const damagedSegment = (name: string): SallyportError =>
  fail.damaged('collection_damaged', 'A snapshot file does not match its recorded hash.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.', details: { file: name },
  })

const isDamage = (error: unknown): boolean =>
  error instanceof SallyportError && error.kind === 'damaged'

interface KeptBlock {
  readonly rows: readonly StoredRow[]
  readonly bytes: number
}

/** Blocks read lately, by file and number; the oldest are let go first. */
export class BlockCache {
  readonly #blocks = new Map<string, KeptBlock>()
  #bytesMax: number
  #bytes = 0

  /** `bytesMax`: how many bytes of blocks are kept; their documents take a few times as much. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(key: string): readonly StoredRow[] | undefined {
    const known = this.#blocks.get(key)
    if (known === undefined) return undefined
    this.#blocks.delete(key)
    this.#blocks.set(key, known)
    return known.rows
  }

  put(key: string, rows: readonly StoredRow[], bytes: number): void {
    this.#blocks.set(key, { rows, bytes })
    this.#bytes += bytes
    this.#letGo(key)
  }

  /** Keeps no more than so many bytes from now on. */
  keepAtMost(bytesMax: number): void {
    this.#bytesMax = bytesMax
    this.#letGo(undefined)
  }

  /** Lets go of the blocks of a file that nobody reads any more: a fold wrote its rows anew. */
  forget(file: string): void {
    for (const [key, { bytes }] of this.#blocks) {
      if (!key.startsWith(`${file} `)) continue
      this.#blocks.delete(key)
      this.#bytes -= bytes
    }
  }

  #letGo(kept: string | undefined): void {
    for (const [oldest, { bytes: freed }] of this.#blocks) {
      if (this.#bytes <= this.#bytesMax || oldest === kept) return
      this.#blocks.delete(oldest)
      this.#bytes -= freed
    }
  }
}

const keyOf = ([collection, id]: readonly [string, string, ...unknown[]]): Key =>
  ({ collection, id })

/** Rows of a block whose digest was true; undefined where a line is none of ours. */
export const rowsOfBlock = (bytes: Buffer): StoredRow[] | undefined => {
  const rows: StoredRow[] = []
  for (const line of bytes.toString('utf8', 0, bytes.length - 1).split('\n')) {
    const row = rowOf(line)
    if (row === undefined) return undefined
    rows.push(row)
  }
  return rows
}

export const isWithin = (key: Key, { low, lowOpen = false, high }: Bounds): boolean => {
  if (high !== undefined && compareKeys(key, high) >= 0) return false
  if (low === undefined) return true
  const order = compareKeys(key, low)
  return order > 0 || (order === 0 && !lowOpen)
}

/** A key with its own numbers, see `hashesOf`. */
export interface HashedKey {
  readonly key: Key
  readonly hashes: readonly [number, number]
}

/** How many rows, which ascend, lie below a key; with `orAt` one at the key counts, too. */
const countBelow = (rows: readonly StoredRow[], key: Key, orAt: boolean): number => {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compareKeys(rows[middle] as StoredRow, key)
    if (order < 0 || (orAt && order === 0)) low = middle + 1
    else high = middle
  }
  return low
}

const rowAt = (rows: readonly StoredRow[], key: Key): StoredRow | undefined => {
  const row = rows[countBelow(rows, key, false)]
  return row !== undefined && compareKeys(row, key) === 0 ? row : undefined
}

/** Which rows of a block lie within bounds: from one place to before another. */
const placesIn = (
  rows: readonly StoredRow[], { low, lowOpen = false, high }: Bounds,
): readonly [number, number] => [
  low === undefined ? 0 : countBelow(rows, low, lowOpen),
  high === undefined ? rows.length : countBelow(rows, high, false),
]

const newline = 0x0a
const behindId: ReadonlySet<number | undefined> = new Set([0x2c, 0x5d])

/**
 * The row at a key in the bytes of a block whose digest was true, of which no other line is looked
 * at. No document has a line end of its own, so that a line begins nowhere else.
 */
const rowIn = (bytes: Buffer, key: Key, name: string): StoredRow | undefined => {
  const begin = Buffer.from(lineOf({ ...key, text: null }).slice(0, -1))
  for (let at = bytes.indexOf(begin); at !== -1; at = bytes.indexOf(begin, at + 1)) {
    if (at > 0 && bytes[at - 1] !== newline) continue
    if (!behindId.has(bytes[at + begin.length])) continue
    const row = rowOf(bytes.toString('utf8', at, bytes.indexOf(newline, at)))
    if (row === undefined) throw damagedSegment(name)
    return row
  }
  return undefined
}

/** A block that is being looked through. */
interface OpenBlock {
  /** First key of the next one; undefined where it is the last one. */
  readonly end: Key | undefined
  readonly find: (key: Key) => StoredRow | undefined
}

/** One segment file. */
export class Segment {
  readonly facts: SegmentFacts
  readonly #source: SegmentSource
  readonly #cache: BlockCache | undefined
  #lines: IndexLines | undefined
  #filter: Buffer | undefined

  constructor(source: SegmentSource, cache?: BlockCache) {
    this.facts = source.facts
    this.#source = source
    this.#cache = cache
  }

  #span([offset, length, sha256]: readonly [number, number, string]): Buffer {
    const bytes = this.#source.read(offset, length)
    if (bytes.length !== length || hash('sha256', bytes) !== sha256) {
      throw damagedSegment(this.facts.name)
    }
    return bytes
  }

  /** Every block, in order. Throws `damaged`. */
  get index(): readonly IndexLine[] {
    return Array.from({ length: this.#blocks }, (_, number) => this.#line(number))
  }

  /** Throws `damaged`. */
  get #loaded(): IndexLines {
    if (this.#lines === undefined) {
      const lines = new IndexLines(this.#span(this.facts.index))
      if (lines.count === 0) throw damagedSegment(this.facts.name)
      this.#lines = lines
    }
    return this.#lines
  }

  /** How many blocks there are. Throws `damaged`. */
  get #blocks(): number {
    return this.#loaded.count
  }

  /** What the index says of a block; there is one of this number. */
  #line(number: number): IndexLine {
    const line = this.#loaded.line(number)
    if (line === undefined) throw damagedSegment(this.facts.name)
    return line
  }

  /** Number of the last block whose first key is not above `key`; -1 where all are. */
  #blockAt(key: Key): number {
    return this.#lastUpTo(key, 0, this.#blocks)
  }

  /** The same, where all blocks before `from` are not above it, and all from `to` on are. */
  #lastUpTo(key: Key, from: number, to: number): number {
    let [low, high] = [from, to]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compareKeys(keyOf(this.#line(middle)), key) <= 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The filter's bytes. Throws `damaged`. */
  get filter(): Buffer {
    this.#filter ??= Buffer.from(this.#span(this.facts.filter))
    return this.#filter
  }

  #cacheKey(number: number): string {
    return `${this.facts.name} ${this.facts.sha256} ${number}`
  }

  #blockBytes(number: number): Buffer {
    const [, , offset, length, digest] = this.#line(number)
    return this.#span([offset, length, digest])
  }

  /** Rows of the n-th block. Throws `damaged`. */
  block(number: number): readonly StoredRow[] {
    const key = this.#cacheKey(number)
    const known = this.#cache?.get(key)
    if (known !== undefined) return known
    const bytes = this.#blockBytes(number)
    const rows = rowsOfBlock(bytes)
    if (rows === undefined) throw damagedSegment(this.facts.name)
    this.#cache?.put(key, rows, bytes.length)
    return rows
  }

  /** Whether the key can be in this file, by its first and last key. */
  spans(key: Key): boolean {
    return compareKeys(key, keyOf(this.facts.first)) >= 0 &&
      compareKeys(key, keyOf(this.facts.last)) <= 0
  }

  /** The row at a key; `hashes` are the key's own, see `hashesOf`. */
  get(key: Key, hashes: readonly [number, number]): StoredRow | undefined {
    if (!this.spans(key) || !mayHold(this.filter, hashes)) return undefined
    const number = this.#blockAt(key)
    return number < 0 ? undefined : rowAt(this.block(number), key)
  }

  /**
   * The rows at some keys, ascending, all of which this file spans. Each block is read once, and is
   * kept at hand with `keep`.
   */
  getMany(keys: readonly HashedKey[], keep: boolean): (StoredRow | undefined)[] {
    const { filter } = this
    let number = -1
    let block: OpenBlock | undefined
    return keys.map(({ key, hashes }) => {
      if (!mayHold(filter, hashes)) return undefined
      if (block === undefined || (block.end !== undefined && compareKeys(key, block.end) >= 0)) {
        number = this.#blockFrom(number, key)
        block = number < 0 ? undefined : this.#openBlock(number, keep)
      }
      return block?.find(key)
    })
  }

  /** The n-th block, for keys that lie in it. Nothing else may be read while it is in use. */
  #openBlock(number: number, keep: boolean): OpenBlock {
    const end = number + 1 < this.#blocks ? keyOf(this.#line(number + 1)) : undefined
    const rows = keep ? this.block(number) : this.#cache?.get(this.#cacheKey(number))
    if (rows !== undefined) return { end, find: (key) => rowAt(rows, key) }
    const bytes = this.#blockBytes(number)
    return { end, find: (key) => rowIn(bytes, key, this.facts.name) }
  }

  /** The same as `#blockAt` for a key that lies in block `from` or behind it. */
  #blockFrom(from: number, key: Key): number {
    const isUpTo = (number: number): boolean =>
      number < this.#blocks && compareKeys(keyOf(this.#line(number)), key) <= 0
    if (from < 0) return this.#blockAt(key)
    // Keys of a long list lie close to one another: mostly in this block or one of the next.
    let [low, step] = [from, 1]
    while (isUpTo(low + step)) {
      low += step
      step *= 2
    }
    return this.#lastUpTo(key, low + 1, Math.min(this.#blocks, low + step))
  }

  /** What lies in the n-th block. */
  rangeOf(number: number): LostRows {
    const from = keyOf(this.#line(number))
    const to = number + 1 < this.#blocks ? keyOf(this.#line(number + 1)) : undefined
    // A block of entries holds those of one index, whatever comes behind it.
    const end = isIndexName(from.collection) && to?.collection !== from.collection
      ? { collection: `${from.collection}\u0000`, id: '' } : to
    return { name: this.facts.name, from, to: end }
  }

  /** Rows within bounds, in order or in reverse. With `onLost` damage is told and passed over. */
  * scan(bounds: Bounds = {}, reverse = false, onLost?: OnLost): Generator<StoredRow> {
    const wasHeld = this.#lines !== undefined
    try {
      yield* this.#scan(bounds, reverse, onLost)
    } finally {
      // Who keeps no blocks reads each file once; hundreds of indexes would be held meanwhile.
      if (!wasHeld && this.#cache === undefined) this.#lines = undefined
    }
  }

  * #scan(bounds: Bounds, reverse: boolean, onLost: OnLost | undefined): Generator<StoredRow> {
    for (const number of this.#numbersIn(bounds, reverse, this.#blocksOr(onLost))) {
      const rows = this.#blockOr(number, onLost)
      const [from, to] = placesIn(rows, bounds)
      for (let at = from; at < to; at += 1) {
        const row = rows[reverse ? from + to - 1 - at : at]
        if (row !== undefined) yield row
      }
    }
  }

  /**
   * Numbers of the blocks that may hold rows within bounds, of so many. Most bounds lie in one
   * block: where the other bound lies is not looked for, but noticed when it is reached.
   */
  * #numbersIn({ low, high }: Bounds, reverse: boolean, blocks: number): Generator<number> {
    if (blocks === 0) return
    if (reverse) {
      let number = high === undefined ? blocks - 1 : this.#blockAt(high)
      for (; number >= 0; number -= 1) {
        yield number
        if (low !== undefined && compareKeys(keyOf(this.#line(number)), low) <= 0) return
      }
      return
    }
    let number = low === undefined ? 0 : Math.max(0, this.#blockAt(low))
    for (; number < blocks; number += 1) {
      if (high !== undefined && compareKeys(keyOf(this.#line(number)), high) >= 0) return
      yield number
    }
  }

  #blocksOr(onLost: OnLost | undefined): number {
    try {
      return this.#blocks
    } catch (error) {
      if (onLost === undefined || !isDamage(error)) throw error
      onLost({ name: this.facts.name, from: keyOf(this.facts.first), to: undefined })
      return 0
    }
  }

  #blockOr(number: number, onLost: OnLost | undefined): readonly StoredRow[] {
    try {
      return this.block(number)
    } catch (error) {
      if (onLost === undefined || !isDamage(error)) throw error
      onLost(this.rangeOf(number))
      return []
    }
  }
}
