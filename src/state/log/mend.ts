/**
 * Puts one flipped bit of an untrue record right. A record is covered by the check of its header
 * and by its chain, so a candidate that fits both is what was written: nothing is guessed.
 */
import { hash } from 'node:crypto'
import {
  chainAfter, coveredBytes, readRecordHeader, recordFrameBytes, recordHeaderBytes,
  type LogBinding,
} from './format.js'
import type { LogBytes, ScanStart } from './scan.js'

/** Longest record of which every single bit is tried: seconds, not minutes, at the longest. */
export const mendBytesMax = 16 * 1024

/** One byte of a log and what it must be; the position counts from the start of the bytes. */
export interface Mend {
  readonly at: number
  readonly byte: number
}

const bits = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => 1 << bit)

/**
 * Flips the one bit from byte `from` on after which the whole is as `fits` says, and answers its
 * byte; -1 where no single bit does it, and all is as it was.
 */
export const flipOne = (bytes: Buffer, from: number, fits: () => boolean): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    for (const bit of bits) {
      bytes[at] = byte ^ bit
      if (fits()) return at
    }
    bytes[at] = byte
  }
  return -1
}

/** Bytes of a space, a SHA-256 in hex and the end of a line. */
const lineEndBytes = 66

/**
 * A line with its own check (a text, a space, its SHA-256) as it was before one of its bits was
 * flipped; undefined where no single bit does it.
 */
export const mendLine = (line: Buffer): Buffer | undefined => {
  const textEnd = line.length - lineEndBytes
  if (textEnd <= 0) return undefined
  const text = Buffer.from(line.subarray(0, textEnd))
  const stored = line.subarray(textEnd)
  const check = stored.toString('latin1', 1, lineEndBytes - 1)
  const end = (): Buffer => Buffer.from(` ${hash('sha256', text)}\n`, 'latin1')
  const isMended = oneBitApart(stored, end()) >= 0 || (textEnd <= mendBytesMax &&
    flipOne(text, 0, () => hash('sha256', text) === check) >= 0)
  return isMended ? Buffer.concat([text, end()]) : undefined
}

const chainTextForm = /^\n[0-9a-f]{64}\n$/

/** The one byte in which two texts of equal length differ by one bit; -1 where it is not so. */
const oneBitApart = (stored: Buffer, wanted: Buffer): number => {
  const differ = [...wanted.keys()].filter((at) => wanted[at] !== stored[at])
  const [at = -1] = differ
  if (differ.length !== 1) return -1
  return bits.includes((stored[at] ?? 0) ^ (wanted[at] ?? 0)) ? at : -1
}

/** A flipped bit in the payload or in the chain text of a record whose header is true. */
const mendBody = (
  binding: LogBinding, record: Buffer, payloadEnd: number, before: string,
): Mend | undefined => {
  const stored = record.subarray(payloadEnd)
  const wanted = Buffer.from(`\n${chainAfter(binding, before, record, payloadEnd)}\n`, 'latin1')
  const inChain = oneBitApart(stored, wanted)
  if (inChain >= 0) return { at: payloadEnd + inChain, byte: wanted[inChain] ?? 0 }
  if (!chainTextForm.test(stored.toString('latin1'))) return undefined
  const chain = stored.toString('latin1', 1, 65)
  const covered = coveredBytes(binding, before, record, payloadEnd)
  const lead = covered.length - payloadEnd
  const at = flipOne(covered, lead + recordHeaderBytes, () => hash('sha256', covered) === chain)
  return at < 0 ? undefined : { at: at - lead, byte: covered[at] ?? 0 }
}

const takeWhole = (source: LogBytes, at: number, length: number): Buffer | undefined => {
  if (length > mendBytesMax) return undefined
  const record = source.read(at, length)
  return record.length === length ? Buffer.from(record) : undefined
}

/** A flipped bit in the header: the header's own check and the chain both say which. */
const mendHeader = (
  binding: LogBinding, source: LogBytes, start: number, from: ScanStart,
): Mend | undefined => {
  const head = Buffer.from(source.read(start, recordHeaderBytes))
  const at = flipOne(head, 0, () => {
    const header = readRecordHeader(binding, head, 0)
    if (header?.sequence !== from.sequence + 1) return false
    const record = takeWhole(source, start, recordFrameBytes + header.length)
    if (record === undefined) return false
    head.copy(record)
    const payloadEnd = recordHeaderBytes + header.length
    const after = chainAfter(binding, from.chain, record, payloadEnd)
    return record.toString('latin1', payloadEnd) === `\n${after}\n`
  })
  return at < 0 ? undefined : { at, byte: head[at] ?? 0 }
}

/**
 * The one bit that makes the untrue record at `start`, which must follow `from`, true again;
 * undefined where no single bit does, or where the record is longer than `mendBytesMax`.
 */
export const mendRecord = (
  binding: LogBinding, source: LogBytes, start: number, from: ScanStart,
): Mend | undefined => {
  const head = source.read(start, recordHeaderBytes)
  if (head.length < recordHeaderBytes) return undefined
  const header = readRecordHeader(binding, head, 0)
  let mend: Mend | undefined
  if (header === undefined) mend = mendHeader(binding, source, start, from)
  else if (header.sequence === from.sequence + 1) {
    const record = takeWhole(source, start, recordFrameBytes + header.length)
    if (record === undefined) return undefined
    mend = mendBody(binding, record, recordHeaderBytes + header.length, from.chain)
  }
  return mend === undefined ? undefined : { at: start + mend.at, byte: mend.byte }
}
