/**
 * The bytes of a segment: blocks of lines, an index that names each block with its digest, and a
 * filter. Rows come sorted, each key once, and go out as files of a bounded length.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { canonicalJson } from '../../base/canonical.js'
import { isIndexName } from '../indexes.js'
import { buildFilter } from './filter.js'
import { lineOf, type Key, type Row } from './row.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const keyShape = v.strictTuple([v.string(), v.string()])
/** Offset, length and SHA-256 of some bytes of a file. */
const spanShape = v.strictTuple([count, count, sha])

/** Shape of what a manifest says of one segment file. */
export const segmentShape = v.strictObject({
  /** File name. */
  name: v.pipe(v.string(), v.regex(/^\d{12}\.\d{1,9}\.seg$/)),
  bytes: count,
  sha256: sha,
  index: spanShape,
  filter: spanShape,
  first: keyShape,
  last: keyShape,
  rows: count,
  /** How many of the rows say that a document was removed. */
  removed: count,
})
/** What a manifest says of one segment file. */
export type SegmentFacts = v.InferOutput<typeof segmentShape>

/** One block as the index of its file names it: first key, offset, length, SHA-256. */
export type IndexLine = readonly [string, string, number, number, string]

/** Whether a value is a line of an index. By hand: a schema takes longer than a whole cold read. */
export const isIndexLine = (value: unknown): value is IndexLine => {
  if (!Array.isArray(value) || value.length !== 5) return false
  const [collection, id, offset, length, digest] = value as unknown[]
  return typeof collection === 'string' && typeof id === 'string' &&
    typeof digest === 'string' && Number.isSafeInteger(offset) && Number.isSafeInteger(length)
}

/** How long blocks and files grow. A longer row has a block, or a file, of its own. */
interface SegmentLimits {
  readonly blockBytes: number
  readonly fileBytes: number
}

const kibibyte = 1024
/** Blocks of 16 KiB, files of 8 MiB with their index and filter. */
const segmentLimits: SegmentLimits = {
  blockBytes: 16 * kibibyte,
  fileBytes: 8 * kibibyte * kibibyte,
}
/** What a file begins with: most folds are of a log this short. */
const firstBytes = 512 * kibibyte
/** What index and filter may take of a file beside its blocks. */
const tailShare = 1 / 16

/** A segment that was built: its bytes, and its facts but for the name. */
export interface Built {
  readonly bytes: Buffer
  readonly facts: Omit<SegmentFacts, 'name'>
}

/** Puts one file together. */
class Builder {
  readonly #limits: SegmentLimits
  /** One buffer for the whole file: its blocks one by one would be garbage twice. */
  #buffer = Buffer.alloc(0)
  readonly #index: IndexLine[] = []
  readonly #keys: Key[] = []
  #lines: string[] = []
  #lineBytes = 0
  #blockFirst: Key | undefined
  #bytes = 0
  #removed = 0

  constructor(limits: SegmentLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0
  }

  /** Whether a line of so many bytes would make the file too long. */
  isFullFor(bytes: number): boolean {
    const room = this.#limits.fileBytes * (1 - tailShare)
    return !this.isEmpty && this.#bytes + this.#lineBytes + bytes > room
  }

  add(row: Row, line: string, bytes: number): void {
    const isFull = this.#lineBytes + bytes > this.#limits.blockBytes
    if (this.#lineBytes > 0 && (isFull || this.#isApart(row))) this.#endBlock()
    this.#blockFirst ??= row
    this.#lines.push(line)
    this.#lineBytes += bytes
    this.#keys.push({ collection: row.collection, id: row.id })
    if (row.text === null) this.#removed += 1
  }

  /** Entries of an index share no block with other rows: one that is lost costs no document. */
  #isApart({ collection }: Row): boolean {
    const before = this.#keys.at(-1)?.collection ?? collection
    return before !== collection && (isIndexName(before) || isIndexName(collection))
  }

  /** Makes room for so many bytes more. */
  #makeRoom(bytes: number): void {
    const needed = this.#bytes + bytes
    if (needed <= this.#buffer.length) return
    const isSmall = needed <= firstBytes && this.#buffer.length === 0
    const length = isSmall ? firstBytes : Math.max(this.#limits.fileBytes, needed)
    const larger = Buffer.allocUnsafe(length)
    this.#buffer.copy(larger, 0, 0, this.#bytes)
    this.#buffer = larger
  }

  #append(bytes: Buffer): void {
    this.#makeRoom(bytes.length)
    this.#bytes += bytes.copy(this.#buffer, this.#bytes)
  }

  #endBlock(): void {
    const length = this.#lineBytes
    this.#makeRoom(length)
    this.#buffer.write(`${this.#lines.join('\n')}\n`, this.#bytes)
    const sha256 = hash('sha256', this.#buffer.subarray(this.#bytes, this.#bytes + length))
    const { collection = '', id = '' } = this.#blockFirst ?? {}
    this.#index.push([collection, id, this.#bytes, length, sha256])
    this.#bytes += length
    this.#lines = []
    this.#lineBytes = 0
    this.#blockFirst = undefined
  }

  finish(): Built {
    this.#endBlock()
    const index = Buffer.from(`${canonicalJson(this.#index)}\n`)
    const filter = buildFilter(this.#keys)
    const [indexAt, filterAt] = [this.#bytes, this.#bytes + index.length]
    this.#append(index)
    this.#append(filter)
    const bytes = this.#buffer.subarray(0, this.#bytes)
    const [first, last] = [this.#keys[0], this.#keys.at(-1)]
    return {
      bytes,
      facts: {
        bytes: bytes.length,
        sha256: hash('sha256', bytes),
        index: [indexAt, index.length, hash('sha256', index)],
        filter: [filterAt, filter.length, hash('sha256', filter)],
        first: [first?.collection ?? '', first?.id ?? ''],
        last: [last?.collection ?? '', last?.id ?? ''],
        rows: this.#keys.length,
        removed: this.#removed,
      },
    }
  }
}

/** Builds files from sorted rows, one after the other; memory is bounded by one file. */
export function* buildSegments(
  rows: Iterable<Row>, limits: SegmentLimits = segmentLimits,
): Generator<Built> {
  let builder = new Builder(limits)
  for (const row of rows) {
    const line = lineOf(row)
    const bytes = Buffer.byteLength(line) + 1
    if (builder.isFullFor(bytes)) {
      yield builder.finish()
      builder = new Builder(limits)
    }
    builder.add(row, line, bytes)
  }
  if (!builder.isEmpty) yield builder.finish()
}
