/** The records of a log whose bytes are in memory. */
import type { LogBinding } from '../../../src/state/log/format.js'
import {
  pieceBytes, scanLog, type LogBytes, type ScannedRecord, type ScanStart, type TailKind,
} from '../../../src/state/log/scan.js'

/** What a scan found. */
interface Scan {
  readonly records: readonly ScannedRecord[]
  /** End of the last true record. */
  readonly end: number
  readonly tail: TailKind
}

/** Bytes that are in memory, as the program reads those of a file. */
export const bytesInMemory = (bytes: Buffer): LogBytes => ({
  size: bytes.length,
  read: (position, length) => bytes.subarray(position, position + length),
})

/** Reads all of them with the program's own scan. */
export const scanRecords = (
  binding: LogBinding, bytes: Buffer, from: ScanStart, piece: number = pieceBytes,
): Scan => {
  const records: ScannedRecord[] = []
  const tail = scanLog(
    binding, bytesInMemory(bytes), from, (record) => records.push(record) > 0, piece)
  return { records, end: records.at(-1)?.end ?? 0, tail }
}
