/**
 * Records of a log that is damaged: those up to the first untrue one, with single flipped bits put
 * right on the way, and those behind it that can still be proved to have been there.
 */
import type { LogBinding } from '../log/format.js'
import { mendRecord, type Mend } from '../log/mend.js'
import { decodePayload, type RecordPayload } from '../log/record.js'
import {
  evidenceBehind, patchedBytes, scanLog, type LogBytes, type ScannedRecord, type ScanStart,
  type TailKind,
} from '../log/scan.js'
import type { Mark } from '../snapshot/manifest.js'

/** A true record with its content. */
export interface SalvagedRecord extends ScannedRecord { readonly content: RecordPayload }

/** How to read. */
export interface SalvageOptions {
  /** Try each single bit of an untrue record (seconds for a long one): for repair and restore. */
  readonly mend?: boolean
  /** Whose manifests are meant; any where it is left out. */
  readonly storeId?: string | undefined
}

/** The true records of a log. */
export interface TrueRecords {
  readonly records: readonly SalvagedRecord[]
  readonly sealed: { readonly epoch: number; readonly end: number } | undefined
  readonly tail: TailKind | 'bad_payload'
  readonly mends: readonly Mend[]
}

/** Records up to the first untrue one; with `mend`, up to one that no single bit puts right. */
export const readTrue = (
  binding: LogBinding, body: LogBytes, from: ScanStart, mend: boolean,
): TrueRecords => {
  const patches = new Map<number, number>()
  const source = patchedBytes(body, patches)
  const records: SalvagedRecord[] = []
  let sealed: TrueRecords['sealed']
  for (;;) {
    const last = records.at(-1)
    const start = last?.end ?? 0
    const before = last ?? from
    let bad = false
    const rest: LogBytes = {
      size: source.size - start,
      read: (position, length) => source.read(start + position, length),
    }
    const tail = scanLog(binding, rest, before, (record) => {
      const content = decodePayload(record.payload)
      bad = content === undefined
      if (content?.next_epoch !== undefined) {
        sealed = { epoch: content.next_epoch, end: start + record.end }
      } else if (content !== undefined) {
        records.push({ ...record, start: start + record.start, end: start + record.end, content })
      }
      return !bad
    })
    const untrue = records.at(-1)
    const fix = mend && !bad && tail !== 'clean' && tail !== 'torn'
      ? mendRecord(binding, source, untrue?.end ?? 0, untrue ?? from) : undefined
    if (fix === undefined) {
      const mends = [...patches].map(([at, byte]) => ({ at, byte }))
      return { records, sealed, tail: bad ? 'bad_payload' : tail, mends }
    }
    patches.set(fix.at, fix.byte)
  }
}

/** Proved records behind `from` whose content can be read. */
export const evidenceIn = (
  binding: LogBinding, body: LogBytes, from: { readonly sequence: number; readonly end: number },
): SalvagedRecord[] =>
  [...evidenceBehind(binding, body, from)].flatMap((record) => {
    const content = decodePayload(record.payload)
    return content === undefined ? [] : [{ ...record, content }]
  })

/** Marks after some records, oldest first; `before` are those that they go on from. */
export const marksAfter = (records: readonly SalvagedRecord[], before: readonly Mark[]): Mark[] => [
  ...before,
  ...records.flatMap(({ content, sequence, chain }) =>
    content.mark === undefined ? [] : [{ ...content.mark, sequence, chain }]),
]
