/**
 * Reads the records of a log in pieces, so that memory is bounded by one record and not by the log:
 * a log that cannot be folded goes on growing, and a hole in a file may be of any length.
 */
import { readRange, type Files } from '../files.js'
import {
  chainAfter, readRecordHeader, recordChainLineBytes, recordFrameBytes, recordHeaderBytes,
  type LogBinding,
} from './format.js'

/** Bytes of a log behind its first line. */
export interface LogBytes {
  readonly size: number
  /** Fewer bytes than asked for where the file ends. */
  read(position: number, length: number): Buffer
}

/** Bytes of an open file from `start` up to `end`. */
export const bytesInFile = (files: Files, fd: number, start: number, end: number): LogBytes => ({
  size: Math.max(0, end - start),
  read: (position, length) => readRange(files, fd, start + position, length),
})

/** The same bytes with some of them replaced, by position. */
export const patchedBytes = (source: LogBytes, patches: ReadonlyMap<number, number>): LogBytes => ({
  size: source.size,
  read: (position, length) => {
    const bytes = source.read(position, length)
    for (const [at, byte] of patches) {
      if (at >= position && at < position + bytes.length) bytes[at - position] = byte
    }
    return bytes
  },
})

/** A record that passed every check. Offsets count from the start of the scanned bytes. */
export interface ScannedRecord {
  readonly sequence: number
  readonly start: number
  readonly end: number
  readonly payload: string
  readonly chain: string
}

/**
 * How scanned bytes end. `torn`: the last record is shorter than its length, so it was never
 * acknowledged. `ambiguous`: the last record is whole and untrue. `damaged`: something untrue has
 * more bytes behind it.
 */
export type TailKind = 'clean' | 'torn' | 'ambiguous' | 'damaged'

/** What the records build on: the one before them. */
export interface ScanStart {
  readonly sequence: number
  readonly chain: string
}

/** How many bytes are read at once unless a record is longer. */
export const pieceBytes = 1024 * 1024

/** A moving view of the bytes; what was read last is kept. */
class Pieces {
  readonly #source: LogBytes
  readonly #piece: number
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(source: LogBytes, piece: number) {
    this.#source = source
    this.#piece = piece
  }

  /** `length` bytes from `position`, fewer where the source ends. */
  take(position: number, length: number): Buffer {
    const from = position - this.#at
    if (from < 0 || from + length > this.#bytes.length) {
      const left = this.#source.size - position
      this.#bytes = this.#source.read(position, Math.min(left, Math.max(length, this.#piece)))
      this.#at = position
      return this.#bytes.subarray(0, length)
    }
    return this.#bytes.subarray(from, from + length)
  }
}

/** Where true record headers stand from `at` on, whatever is between them. */
function* headersFrom(
  binding: LogBinding, source: LogBytes, at: number, piece: number,
): Generator<number> {
  for (let start = at; start < source.size; start += piece) {
    // A header that begins in this piece may end in the next one.
    const length = Math.min(source.size - start, piece + recordHeaderBytes - 1)
    const bytes = source.read(start, length)
    for (let next = bytes.indexOf('#c '); next !== -1; next = bytes.indexOf('#c ', next + 1)) {
      if (next >= piece || bytes.length - next < recordHeaderBytes) break
      if (readRecordHeader(binding, bytes, next) !== undefined) yield start + next
    }
  }
}

/** How many true record headers stand in the bytes from `at` on, whatever is between them. */
export const countRecordHeaders = (
  binding: LogBinding, source: LogBytes, at: number, piece: number = pieceBytes,
): number => {
  let found = 0
  const headers = headersFrom(binding, source, at, piece)
  while (headers.next().done !== true) found += 1
  return found
}

/**
 * Gives each true record to `each`, in order, until one is untrue, the bytes end or `each` answers
 * false; answers how the bytes end. They must begin where the record after `from` begins.
 */
export const scanLog = (
  binding: LogBinding, source: LogBytes, from: ScanStart,
  each: (record: ScannedRecord) => boolean, piece: number = pieceBytes,
): TailKind => {
  const pieces = new Pieces(source, piece)
  let { sequence, chain } = from
  let at = 0
  while (at < source.size) {
    const head = pieces.take(at, recordHeaderBytes)
    if (head.length < recordHeaderBytes) return 'torn'
    const header = readRecordHeader(binding, head, 0)
    if (header === undefined) {
      const more = headersFrom(binding, source, at + 1, piece).next().done !== true
      return more ? 'damaged' : 'ambiguous'
    }
    const length = recordFrameBytes + header.length
    const isNext = header.sequence === sequence + 1
    const bytes = at + length > source.size ? head : pieces.take(at, length)
    if (bytes.length < length) return isNext ? 'torn' : 'ambiguous'
    const payloadEnd = recordHeaderBytes + header.length
    const after = chainAfter(binding, chain, bytes, payloadEnd)
    if (!isNext || bytes.toString('latin1', payloadEnd) !== `\n${after}\n`) {
      return at + length < source.size ? 'damaged' : 'ambiguous'
    }
    const payload = bytes.toString('utf8', recordHeaderBytes, payloadEnd)
    const end = at + length
    if (!each({ sequence: header.sequence, start: at, end, payload, chain: after })) break
    sequence = header.sequence
    chain = after
    at = end
  }
  return 'clean'
}

/** The record whose header stands at `at`, proved by the chain text stored right before it. */
const provedAt = (binding: LogBinding, source: LogBytes, at: number): ScannedRecord | undefined => {
  const lead = recordChainLineBytes
  if (at < lead) return undefined
  const start = source.read(at - lead, lead + recordHeaderBytes)
  const header = readRecordHeader(binding, start, lead)
  if (header === undefined) return undefined
  const length = recordFrameBytes + header.length
  const bytes = source.read(at, length)
  if (bytes.length < length) return undefined
  const payloadEnd = recordHeaderBytes + header.length
  const before = start.toString('latin1', 0, lead - 1)
  const chain = chainAfter(binding, before, bytes, payloadEnd)
  if (bytes.toString('latin1', payloadEnd) !== `\n${chain}\n`) return undefined
  const payload = bytes.toString('utf8', recordHeaderBytes, payloadEnd)
  return { sequence: header.sequence, start: at, end: at + length, payload, chain }
}

/**
 * Records behind an untrue one, which begins at `from.end`: each has a header of this store and
 * epoch, follows from the chain text that is stored right before it, and has a higher sequence
 * than every one before. They are evidence of what was there and are never replayed: what lay
 * between is unknown. The chain has no key, so this tells accident and not forgery.
 */
export function* evidenceBehind(
  binding: LogBinding, source: LogBytes, from: { readonly sequence: number; readonly end: number },
  piece: number = pieceBytes,
): Generator<ScannedRecord> {
  let { sequence, end } = from
  for (const at of headersFrom(binding, source, end, piece)) {
    if (at < end) continue
    const record = provedAt(binding, source, at)
    if (record === undefined || record.sequence <= sequence) continue
    // Right behind a proved one only the next in turn can stand.
    if (at === end && sequence !== from.sequence && record.sequence !== sequence + 1) continue
    yield record
    sequence = record.sequence
    end = record.end
  }
}
