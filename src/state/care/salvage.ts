/**
 * Reads what is still true of a state directory: per epoch the header, the manifest and the records
 * up to the first untrue one. It assumes nothing and throws only for disk errors.
 */
import { hash } from 'node:crypto'
import type { Files } from '../files.js'
import { errnoOf, readRange, readWhole, withFile } from '../files.js'
import { fileBytesMax } from '../limits.js'
import type { LogHeader } from '../log/format.js'
import { decodeLogHeader, encodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import type { ScannedRecord, TailKind } from '../log/scan.js'
import { bytesInFile, countRecordHeaders, scanLog } from '../log/scan.js'
import { looseManifest } from '../snapshot/checkpoint.js'
import type { Places } from '../paths.js'
import { formatVersion, logEpochs } from '../paths.js'
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
  readonly tail: TailKind | 'bad_payload'
  /** Where the true records end in the log file, and how many bytes lie behind. */
  readonly end: number
  readonly bytesBehind: number
  /** Record headers found behind the first untrue byte. */
  readonly recordsBehind: number
}

const rebuiltHeader = (
  files: Files, places: Places, epoch: number,
): { readonly header: LogHeader; readonly end: number } | undefined => {
  const manifest = looseManifest(files, places.manifest(epoch))
  const bytes = readWhole(files, places.manifest(epoch), fileBytesMax.manifest)
  if (manifest === undefined || bytes === undefined || manifest.epoch !== epoch) return undefined
  const header: LogHeader = {
    schema: 'sallyport.log.v1',
    format_version: formatVersion,
    store_id: manifest.store_id,
    epoch,
    manifest_sha256: hash('sha256', bytes),
    base_sequence: manifest.sequence,
    base_chain: manifest.chain,
  }
  return { header, end: encodeLogHeader(header).length }
}

/** Reads one epoch as far as it is true. */
export const salvageEpoch = (files: Files, places: Places, epoch: number): SalvagedEpoch => {
  try {
    return withFile(files, places.log(epoch), 'read', (fd) => salvageLog(files, places, epoch, fd))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return lostEpoch(epoch, 0)
    throw error
  }
}

const salvageLog = (
  files: Files, places: Places, epoch: number, fd: number,
): SalvagedEpoch => {
  const { size } = files.fstat(fd)
  const decoded = decodeLogHeader(readRange(files, fd, 0, Math.min(size, logHeaderBytesMax)))
  const head = decoded ?? rebuiltHeader(files, places, epoch)
  if (head === undefined || head.header.epoch !== epoch) return lostEpoch(epoch, size)
  const { header, end } = head
  const manifest = readManifest(files, places.manifest(epoch), header.manifest_sha256)
  const binding = { storeId: header.store_id, epoch }
  const from = { sequence: header.base_sequence, chain: header.base_chain }
  const body = bytesInFile(files, fd, end, size)
  const records: SalvagedRecord[] = []
  let bad = false
  const tail = scanLog(binding, body, from, (record) => {
    const content = decodePayload(record.payload)
    bad = content === undefined
    if (content !== undefined) records.push({ ...record, content })
    return !bad
  })
  const trueEnd = records.at(-1)?.end ?? 0
  return {
    epoch,
    headerState: decoded === undefined ? 'rebuilt' : 'true',
    header, manifest, records,
    tail: bad ? 'bad_payload' : tail,
    end: end + trueEnd,
    bytesBehind: body.size - trueEnd,
    recordsBehind: countRecordHeaders(binding, body, trueEnd),
  }
}

const lostEpoch = (epoch: number, bytes: number): SalvagedEpoch => ({
  epoch, headerState: 'lost', header: undefined, manifest: undefined, records: [],
  tail: 'damaged', end: 0, bytesBehind: bytes, recordsBehind: 0,
})

/** Every epoch on disk, oldest first. */
export const salvageAll = (files: Files, places: Places): SalvagedEpoch[] => {
  if (files.stat(places.wal) === undefined) return []
  return logEpochs(files.list(places.wal)).map((epoch) => salvageEpoch(files, places, epoch))
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
