/**
 * Reads what is still true of a state directory: per epoch the header, the manifest, the records
 * up to the first untrue one, and what behind it can still be proved to have been there. It assumes
 * nothing and throws only for disk errors.
 */
import type { Files } from '../files.js'
import { errnoOf, readRange, withFile } from '../files.js'
import type { LogHeader } from '../log/format.js'
import type { LogBinding } from '../log/format.js'
import { decodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import type { Mend } from '../log/mend.js'
import { mendRecord } from '../log/mend.js'
import type { LogBytes, ScannedRecord, ScanStart, TailKind } from '../log/scan.js'
import {
  bytesInFile, countRecordHeaders, evidenceBehind, patchedBytes, scanLog,
} from '../log/scan.js'
import { rebuiltHeader } from '../snapshot/header.js'
import type { Places } from '../paths.js'
import { logEpochs } from '../paths.js'
import type { RecordPayload } from '../log/record.js'
import { decodePayload } from '../log/record.js'
import type { Manifest, Mark } from '../snapshot/snapshot.js'
import { readManifest } from '../snapshot/snapshot.js'

/** A true record with its content. */
export interface SalvagedRecord extends ScannedRecord {
  readonly content: RecordPayload
}

/** What one epoch still tells. */
export interface SalvagedEpoch {
  readonly epoch: number
  /** `rebuilt`: the header line is untrue, but follows from the manifest. */
  readonly headerState: 'true' | 'rebuilt' | 'lost'
  readonly header: LogHeader | undefined
  /** Undefined when the file is missing or does not match the header. */
  readonly manifest: Manifest | undefined
  readonly records: readonly SalvagedRecord[]
  /** `successor_missing`: the newest log is sealed, so a newer one is gone. */
  readonly tail: TailKind | 'bad_payload' | 'successor_missing'
  /** Where the true records end in the log file, and how many bytes lie behind. */
  readonly end: number
  readonly bytesBehind: number
  /** Record headers found behind the first untrue byte. */
  readonly recordsBehind: number
  /** True records behind the first untrue one: shown to have been there, never replayed. */
  readonly evidence: readonly SalvagedRecord[]
  /** The epoch that took over, as the seal of this log names it; see `snapshot/seal.ts`. */
  readonly sealedFor: number | undefined
  /** Single bits that were put right to read so far; positions count from the start of the file. */
  readonly mends: readonly Mend[]
}

/** How to read. */
export interface SalvageOptions {
  /** Try each single bit of an untrue record (seconds for a long one): for repair and restore. */
  readonly mend?: boolean
  /** Whose log it is meant to be, for evidence in one whose first line is lost. */
  readonly storeId?: string | undefined
}

/** Reads one epoch as far as it is true. */
export const salvageEpoch = (
  files: Files, places: Places, epoch: number, options: SalvageOptions = {},
): SalvagedEpoch => {
  try {
    return withFile(files, places.log(epoch), 'read', (fd) =>
      salvageLog(files, places, epoch, fd, options))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return lostEpoch(epoch)
    throw error
  }
}

const salvageLog = (
  files: Files, places: Places, epoch: number, fd: number, options: SalvageOptions,
): SalvagedEpoch => {
  const { size } = files.fstat(fd)
  const decoded = decodeLogHeader(readRange(files, fd, 0, Math.min(size, logHeaderBytesMax)))
  const first = decoded ?? rebuiltHeader(files, places, epoch)
  if (first === undefined || first.header.epoch !== epoch) {
    const { storeId } = options
    const body = bytesInFile(files, fd, 0, size)
    const evidence = storeId === undefined
      ? [] : evidenceIn({ storeId, epoch }, body, { sequence: 0, end: 0 })
    return { ...lostEpoch(epoch), bytesBehind: size, recordsBehind: evidence.length, evidence }
  }
  const { header, end } = first
  const manifest = readManifest(files, places.manifest(epoch), header.manifest_sha256)
  const binding = { storeId: header.store_id, epoch }
  const from = { sequence: header.base_sequence, chain: header.base_chain }
  const body = bytesInFile(files, fd, end, size)
  const read = readTrue(binding, body, from, options.mend === true)
  const head = read.records.at(-1) ?? { sequence: header.base_sequence, end: 0 }
  const last = { ...head, end: read.sealed?.end ?? head.end }
  // A log appears whole with its first line: one that is shorter has lost what it held.
  const tail = size < end ? 'damaged' : read.tail
  const whole = tail === 'clean' || tail === 'torn'
  return {
    epoch,
    headerState: decoded === undefined ? 'rebuilt' : 'true',
    header, manifest,
    records: read.records,
    tail,
    end: end + last.end,
    bytesBehind: body.size - last.end,
    recordsBehind: countRecordHeaders(binding, body, last.end),
    sealedFor: read.sealed?.epoch,
    evidence: whole ? [] : evidenceIn(binding, body, last),
    mends: read.mends.map(({ at, byte }) => ({ at: end + at, byte })),
  }
}

interface TrueRecords {
  readonly records: readonly SalvagedRecord[]
  readonly sealed: { readonly epoch: number; readonly end: number } | undefined
  readonly tail: SalvagedEpoch['tail']
  readonly mends: readonly Mend[]
}

/** Records up to the first untrue one; with `mend`, up to one that no single bit puts right. */
const readTrue = (
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
const evidenceIn = (
  binding: LogBinding, body: LogBytes, from: { readonly sequence: number; readonly end: number },
): SalvagedRecord[] =>
  [...evidenceBehind(binding, body, from)].flatMap((record) => {
    const content = decodePayload(record.payload)
    return content === undefined ? [] : [{ ...record, content }]
  })

const lostEpoch = (epoch: number): SalvagedEpoch => ({
  epoch, headerState: 'lost', header: undefined, manifest: undefined, records: [],
  tail: 'damaged', end: 0, bytesBehind: 0, recordsBehind: 0, evidence: [], sealedFor: undefined,
  mends: [],
})

/** Every epoch on disk, oldest first. */
export const salvageAll = (
  files: Files, places: Places, options: SalvageOptions = {},
): SalvagedEpoch[] => {
  if (files.stat(places.wal) === undefined) return []
  const epochs = logEpochs(files.list(places.wal))
    .map((epoch) => salvageEpoch(files, places, epoch, options))
  const newest = epochs.at(-1)
  if (newest?.sealedFor === undefined) return epochs
  return [...epochs.slice(0, -1), { ...newest, tail: 'successor_missing' }]
}

/** Marks after an epoch's true records, oldest first. */
export const marksAfter = (epoch: SalvagedEpoch, before: readonly Mark[]): Mark[] => [
  ...before,
  ...epoch.records.flatMap(({ content, sequence, chain }) =>
    content.mark === undefined ? [] : [{ ...content.mark, sequence, chain }]),
]

/** Where an epoch's true records end. */
export const headOf = (
  epoch: SalvagedEpoch,
): { readonly sequence: number; readonly chain: string } | undefined => {
  const last = epoch.records.at(-1)
  if (last !== undefined) return { sequence: last.sequence, chain: last.chain }
  if (epoch.header === undefined) return undefined
  return { sequence: epoch.header.base_sequence, chain: epoch.header.base_chain }
}
