/**
 * The bytes of a log file.
 *
 * A log begins with one header line: canonical JSON, a space, its SHA-256, a newline. Records
 * follow. A record is a header of fixed length with a checksum of its own (so that a flipped length
 * is never taken for a torn end; a CRC-32 sees every flip of it), a canonical JSON payload, and a
 * SHA-256 over the chain of the record before, sequence, length and payload. Every byte is covered
 * by one of the checks: any single flipped bit is seen.
 *
 *     #c <sequence 16 digits> <payload bytes 10 digits> <check 8 hex>\n<payload>\n<chain 64 hex>\n
 *
 * The header check also covers store id and epoch, so that bytes of another log never pass. The
 * chain does not cover that check: it names the history, whichever log a record lies in. In logs of
 * format 2 it does.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { count } from '../../base/schema.js'

// CRC-32 as zlib has it, over short texts of one byte a character: loading zlib would take every
// command longer than all the sums that it will ever make of the headers of records.

const polynomial = 0xedb88320
const bitsAByte = 8

const remainderOf = (byte: number): number => {
  let value = byte
  for (let bit = 0; bit < bitsAByte; bit += 1) {
    value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
  }
  return value
}

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => remainderOf(byte))

/** CRC-32 of a text whose characters are bytes, as a number from 0 to 2³² - 1. */
export const crc32 = (text: string): number => {
  let sum = 0xffffffff
  for (let at = 0; at < text.length; at += 1) {
    sum = (remainders[(sum ^ text.charCodeAt(at)) & 0xff] ?? 0) ^ (sum >>> bitsAByte)
  }
  return (sum ^ 0xffffffff) >>> 0
}

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** What a log's first line says beside its format. */
const headerFields = {
  store_id: v.string(),
  epoch: count,
  /**
   * The manifest that came into force with this log; null where the log only goes on from the one
   * before.
   */
  manifest_sha256: v.nullable(sha),
  base_sequence: count,
  base_chain: sha,
}

/** Shape of a log's first line. */
const logHeaderShape = v.variant('schema', [
  v.strictObject({
    schema: v.literal('sallyport.log.v3'), format_version: v.literal(3), ...headerFields,
  }),
  v.strictObject({
    schema: v.literal('sallyport.log.v2'), format_version: v.literal(2), ...headerFields,
  }),
])
/** A log's first line: what the records build on. */
export type LogHeader = v.InferOutput<typeof logHeaderShape>

/** Most bytes of the header line of a log. */
export const logHeaderBytesMax = 4096
/** Bytes of a record's header. */
export const recordHeaderBytes = 40
const chainBytes = 64
/** Bytes of the line that ends a record: its chain and a newline. */
export const recordChainLineBytes = chainBytes + 1
/** Bytes of a record beside its payload. */
export const recordFrameBytes = recordHeaderBytes + 1 + chainBytes + 1
/** Most bytes of one payload. */
export const payloadBytesMax = 16 * 1024 * 1024

export const encodeLogHeader = (header: LogHeader): Buffer => {
  const text = canonicalJson(header)
  return Buffer.from(`${text} ${sha256Hex(text)}\n`)
}

/** Reads a header line; undefined when it is not whole or not true. `end` is its length. */
export const decodeLogHeader = (
  bytes: Buffer,
): { readonly header: LogHeader; readonly end: number } | undefined => {
  const at = bytes.subarray(0, logHeaderBytesMax).indexOf(0x0a)
  if (at < chainBytes + 2) return undefined
  const text = bytes.toString('utf8', 0, at - chainBytes - 1)
  const line = Buffer.from(`${text} ${sha256Hex(text)}\n`)
  if (!line.equals(bytes.subarray(0, at + 1))) return undefined
  const parsed = v.safeParse(logHeaderShape, JSON.parse(text))
  return parsed.success ? { header: parsed.output, end: at + 1 } : undefined
}

/** What binds a record to its log. */
export interface LogBinding {
  readonly storeId: string
  readonly epoch: number
  /** That of the log: what a chain covers. */
  readonly format: LogHeader['format_version']
}

/** What binds records to the log of a first line. */
export const bindingOf = (header: LogHeader): LogBinding =>
  ({ storeId: header.store_id, epoch: header.epoch, format: header.format_version })

const headerText = (binding: LogBinding, sequence: number, length: number): string => {
  const digits = `${String(sequence).padStart(16, '0')} ${String(length).padStart(10, '0')}`
  const check = crc32(`${binding.storeId}|${binding.epoch}|#c ${digits}`)
  return `#c ${digits} ${check.toString(16).padStart(8, '0')}\n`
}

/** The chain value before the first record of a new store. */
export const firstChain = (storeId: string): string => sha256Hex(`sallyport.log.v1|${storeId}`)

/** Bytes of a header before its check. */
const numberedBytes = 31

/** How many bytes of a record's header its chain covers. */
const coveredOf = ({ format }: LogBinding): number =>
  format === 2 ? recordHeaderBytes : numberedBytes

/** One record's bytes and the chain value after it. `payload` is canonical JSON text. */
export const encodeRecord = (
  binding: LogBinding, sequence: number, before: string, payload: string,
): { readonly bytes: Buffer; readonly chain: string } => {
  const length = Buffer.byteLength(payload)
  const whole = Buffer.allocUnsafe(chainBytes + recordFrameBytes + length)
  const header = headerText(binding, sequence, length)
  const payloadAt = chainBytes + recordHeaderBytes
  const payloadEnd = payloadAt + length
  whole.write(payload, payloadAt, 'utf8')
  // What the chain covers stands right before the payload first, and then the header as it is.
  const covered = coveredOf(binding)
  const from = payloadAt - covered - chainBytes
  whole.write(before, from, 'latin1')
  whole.write(header, payloadAt - covered, covered, 'latin1')
  const chain = hash('sha256', whole.subarray(from, payloadEnd))
  whole.write(header, chainBytes, 'latin1')
  whole.write(`\n${chain}\n`, payloadEnd, 'latin1')
  return { bytes: whole.subarray(chainBytes), chain }
}

/** The record header at `at`; undefined when it is not true. */
export const readRecordHeader = (
  binding: LogBinding, bytes: Buffer, at: number,
): { readonly sequence: number; readonly length: number } | undefined => {
  const text = bytes.toString('latin1', at, at + recordHeaderBytes)
  const sequence = Number(text.slice(3, 19))
  const length = Number(text.slice(20, 30))
  if (!Number.isSafeInteger(sequence) || !Number.isSafeInteger(length)) return undefined
  if (text !== headerText(binding, sequence, length)) return undefined
  return length > payloadBytesMax ? undefined : { sequence, length }
}

/** What the chain value after a record is the SHA-256 of; its payload stands last. */
export const coveredBytes = (
  binding: LogBinding, before: string, record: Buffer, payloadEnd: number,
): Buffer => {
  const header = coveredOf(binding)
  const covered = Buffer.allocUnsafe(chainBytes + header + payloadEnd - recordHeaderBytes)
  covered.write(before, 0, 'latin1')
  record.copy(covered, chainBytes, 0, header)
  record.copy(covered, chainBytes + header, recordHeaderBytes, payloadEnd)
  return covered
}

/** The chain value after a record that ends its payload at `payloadEnd`. */
export const chainAfter = (
  binding: LogBinding, before: string, record: Buffer, payloadEnd: number,
): string => hash('sha256', coveredBytes(binding, before, record, payloadEnd))
