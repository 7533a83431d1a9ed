/**
 * Reads what is still true of a state directory of format 1: per epoch the header, the manifest,
 * the records up to the first untrue one, and what behind it can still be proved to have been
 * there. It assumes nothing and throws only for disk errors.
 */
import type { Files } from '../files.js'
import { errnoOf, readRange, withFile } from '../files.js'
import type { LogHeader } from '../log/format.js'
import { decodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import type { Mend } from '../log/mend.js'
import type { TailKind } from '../log/scan.js'
import { bytesInFile, countRecordHeaders } from '../log/scan.js'
import type { SalvagedRecord, SalvageOptions } from '../care/log-records.js'
import { evidenceIn, readTrue } from '../care/log-records.js'
import { rebuiltHeader } from './header.js'
import type { Places } from '../paths.js'
import { logEpochs } from '../paths.js'
import type { Manifest } from './snapshot.js'
import { readManifest } from './snapshot.js'

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
  /** The epoch that took over, as the seal of this log names it; see `snapshot/rotate.ts`. */
  readonly sealedFor: number | undefined
  /** Single bits that were put right to read so far; positions count from the start of the file. */
  readonly mends: readonly Mend[]
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
  const manifest = readManifest(files, places.manifest(epoch), header.manifest_sha256 ?? '')
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
    .filter(({ header }) => header?.schema !== 'sallyport.log.v2')
  const newest = epochs.at(-1)
  if (newest?.sealedFor === undefined) return epochs
  return [...epochs.slice(0, -1), { ...newest, tail: 'successor_missing' }]
}

/** Where an epoch's true records end. */
export const headOf = (
  epoch: SalvagedEpoch,
): { readonly sequence: number; readonly chain: string } | undefined => {
  const last = epoch.records.at(-1)
  if (last !== undefined) return { sequence: last.sequence, chain: last.chain }
  if (epoch.header === undefined) return undefined
  return { sequence: epoch.header.base_sequence, chain: epoch.header.base_chain }
}
