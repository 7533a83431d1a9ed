/**
 * Reads what is still true of a state directory: its manifests, and the logs that go on from the
 * newest of them, up to the first untrue record, and what behind it can still be proved to have
 * been there. It assumes nothing and throws only for disk errors.
 */
import { errnoOf, readRange, withFile, namesIn, type Files } from '../files.js'
import {
  bindingOf, decodeLogHeader, logHeaderBytesMax, type LogBinding, type LogHeader,
} from '../log/format.js'
import type { Mend } from '../log/mend.js'
import { bytesInFile, countRecordHeaders, type LogBytes } from '../log/scan.js'
import { logEpochs, logFormatOf, manifestNumbers, type Places } from '../paths.js'
import { headerIn, isCutOff, lostFoundings } from '../snapshot/founding.js'
import { basesAfter, headerOf, type LogBase } from '../snapshot/header.js'
import { looseManifest, mendedManifest, type Manifest } from '../snapshot/manifest.js'
import {
  evidenceIn, readTrue, type SalvagedRecord, type SalvageOptions, type TrueRecords,
} from './log-records.js'

/** What one log still tells. */
export interface SalvagedLog {
  readonly epoch: number
  /** `rebuilt`: the first line is untrue, but follows from what the log goes on from. */
  readonly headerState: 'true' | 'rebuilt' | 'lost'
  readonly header: LogHeader | undefined
  readonly records: readonly SalvagedRecord[]
  readonly tail: TrueRecords['tail']
  /** Where the true records end in the file, and how many bytes lie behind. */
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

/** Sequence and chain at which something ends. */
interface Head {
  readonly sequence: number
  readonly chain: string
}

/** A manifest and the logs that go on from it. */
export interface Trace {
  readonly manifest: Manifest
  /** Oldest first; the last one may end untrue. */
  readonly logs: readonly SalvagedLog[]
  readonly head: Head
  /** Where the records break off before the newest log ends; null where they do not. */
  readonly broken: {
    readonly epoch: number
    /** `missing`: the log of that epoch is gone; `gap`: it goes on from something else. */
    readonly how: TrueRecords['tail'] | 'missing' | 'gap'
  } | null
  /** Logs behind the one that breaks off: evidence only. */
  readonly behind: readonly SalvagedLog[]
  /**
   * Epoch of the first log that names a manifest which is neither this one nor known, though its
   * records go on right here; null for none. No reader takes such a log.
   */
  readonly orphan: number | null
}

/** What a directory still tells. */
export interface Salvage {
  /** The newest manifest in force, with its logs; undefined where none is true. */
  readonly standing: Trace | undefined
  /** The one before. */
  readonly before: Trace | undefined
  /** Numbers of manifests that are not to be believed, ascending. */
  readonly untrue: readonly number[]
  /**
   * Manifests that are known although their own file is gone or untrue: from a second copy, from
   * STATE, or with one flipped bit put right. Byte for byte what was written; oldest first.
   */
  readonly remade: readonly Manifest[]
  /** Number of the newest log; 0 where there is none. */
  readonly newestLog: number
}

/** All traced records, oldest first. */
export const recordsOf = ({ logs }: Trace): readonly SalvagedRecord[] =>
  logs.flatMap(({ records }) => records)

/** What is shown to have been behind the place where a trace breaks off, oldest first. */
export const evidenceOf = ({ logs, behind }: Trace): readonly SalvagedRecord[] =>
  [...(logs.at(-1)?.evidence ?? []), ...behind.flatMap((log) => [...log.records, ...log.evidence])]

const openOrNot = <T>(files: Files, path: string, use: (fd: number) => T): T | undefined => {
  try {
    return withFile(files, path, 'read', use)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const isOver = (tail: TrueRecords['tail']): boolean => tail === 'clean' || tail === 'torn'

const readFrom = (header: LogHeader, body: LogBytes, mend: boolean): TrueRecords => {
  const from = { sequence: header.base_sequence, chain: header.base_chain }
  return readTrue(bindingOf(header), body, from, mend)
}

const lostLog = (epoch: number, bytesBehind: number, evidence: SalvagedRecord[]): SalvagedLog => ({
  epoch, headerState: 'lost', header: undefined, records: [], tail: 'damaged', end: 0,
  bytesBehind, recordsBehind: evidence.length, evidence, sealedFor: undefined, mends: [],
})

/**
 * Reads one log; undefined where there is none. `bases`: what it may go on from. `meant`: whose log
 * it is meant to be, for evidence in one whose first line is lost.
 */
const salvageLog = (
  files: Files, places: Places, meant: LogBinding, bases: readonly LogBase[],
  options: SalvageOptions,
): SalvagedLog | undefined => openOrNot(files, places.log(meant.epoch), (fd) => {
  const { epoch } = meant
  const { size } = files.fstat(fd)
  const decoded = decodeLogHeader(readRange(files, fd, 0, Math.min(size, logHeaderBytesMax)))
  const lines = decoded === undefined ? bases.map(headerOf) : [decoded]
  const mend = options.mend === true
  const [best] = lines
    .map(({ header, end }) => {
      const body = bytesInFile(files, fd, end, size)
      return { header, end, body, read: readFrom(header, body, mend) }
    })
    .sort((a, b) => b.read.records.length - a.read.records.length)
  if (best === undefined || best.header.epoch !== epoch) {
    const body = bytesInFile(files, fd, 0, size)
    return lostLog(epoch, size, evidenceIn(meant, body, { sequence: 0, end: 0 }))
  }
  const { header, end, body, read } = best
  const head = read.records.at(-1) ?? { sequence: header.base_sequence, end: 0 }
  const last = { ...head, end: read.sealed?.end ?? head.end }
  // A log appears whole with its first line: one that is shorter has lost what it held.
  const tail = size < end ? 'damaged' : read.tail
  return {
    epoch,
    headerState: decoded === undefined ? 'rebuilt' : 'true',
    header,
    records: read.records,
    tail,
    end: end + last.end,
    bytesBehind: body.size - last.end,
    recordsBehind: countRecordHeaders(bindingOf(header), body, last.end),
    sealedFor: read.sealed?.epoch,
    evidence: isOver(tail) ? [] : evidenceIn(bindingOf(header), body, last),
    mends: read.mends.map(({ at, byte }) => ({ at: end + at, byte })),
  }
})

const headerAt = (files: Files, places: Places, epoch: number): LogHeader | undefined =>
  headerIn(files, places.log(epoch))

/** Whether a log goes on where something ends, whichever manifest it names. */
const leadsOn = (header: LogHeader | undefined, meant: LogBinding, head: Head): boolean =>
  header?.store_id === meant.storeId && header.format_version >= meant.format &&
  header.base_chain === head.chain &&
  header.base_sequence === head.sequence

const traceLogs = (
  files: Files, places: Places, manifest: Manifest, options: SalvageOptions,
): Trace => {
  const { store_id: storeId } = manifest
  const meant = (epoch: number): LogBinding =>
    ({ storeId, epoch, format: logFormatOf(manifest.format_version) })
  const all = logEpochs(namesIn(files, places.wal)).filter((epoch) => epoch > manifest.epoch)
  const logs: SalvagedLog[] = []
  let head: Head = { sequence: manifest.sequence, chain: manifest.chain }
  let bases = basesAfter(manifest)
  let orphan: number | null = null
  const ended = (epoch: number, how: NonNullable<Trace['broken']>['how'] | null): Trace => {
    const broken = how === null ? null : { epoch, how }
    const behind = all.filter((one) => one > (logs.at(-1)?.epoch ?? manifest.epoch))
      .flatMap((one) => salvageLog(files, places, meant(one), [], options) ?? [])
    return { manifest, logs, head, broken, behind, orphan }
  }
  for (let epoch = manifest.epoch + 1; ; epoch += 1) {
    const log = salvageLog(files, places, meant(epoch), bases, options)
    if (log === undefined) {
      const isLost = logs.length === 0 || logs.at(-1)?.sealedFor === epoch ||
        all.some((one) => one > epoch)
      return ended(epoch, isLost ? 'missing' : null)
    }
    if (!leadsOn(log.header, meant(epoch), head)) return ended(epoch, 'gap')
    logs.push(log)
    const named = log.header?.manifest_sha256 ?? null
    if (bases.every((base) => base.manifest !== named)) orphan ??= epoch
    const { sequence, chain } = log.records.at(-1) ?? head
    head = { sequence, chain }
    bases = [{ ...meant(epoch + 1), sequence, chain, manifest: null }]
    // A seal that is untrue costs nothing where the next log goes on right here.
    const follows = (): boolean =>
      leadsOn(headerAt(files, places, epoch + 1), meant(epoch + 1), head)
    if (!isOver(log.tail) && !follows()) return ended(epoch, log.tail)
  }
}

/** Whether a manifest ever came into force; one whose log is untrue or gone may have. */
const isInForce = (files: Files, places: Places, manifest: Manifest): boolean => {
  if (!manifest.founding) return true
  if (files.stat(places.log(manifest.epoch + 1)) === undefined) {
    return !isCutOff(files, places, manifest)
  }
  const header = headerAt(files, places, manifest.epoch + 1)
  const [base] = basesAfter(manifest)
  return header === undefined || header.manifest_sha256 === base?.manifest
}

/** Reads all of a directory that a repair, a restore or a check has to know. */
export const salvage = (files: Files, places: Places, options: SalvageOptions = {}): Salvage => {
  const newestLog = logEpochs(namesIn(files, places.wal)).at(-1) ?? 0
  const { known, untrue, remade } = manifestsIn(files, places, options)
  const [standing, before] = known
    .filter((manifest) => isInForce(files, places, manifest)).slice(0, 2)
    .map((manifest) => traceLogs(files, places, manifest, options))
  // One that is older was swept; its log may still lie there.
  const oldest = (before ?? standing)?.manifest.number ?? 0
  return {
    standing, before, untrue, remade: remade.filter(({ number }) => number >= oldest), newestLog,
  }
}

/** All manifests that can be known, newest first, and which of them not from their own file. */
const manifestsIn = (
  files: Files, places: Places, { mend = false, storeId }: SalvageOptions,
): Pick<Salvage, 'untrue' | 'remade'> & { readonly known: readonly Manifest[] } => {
  const named = manifestNumbers(namesIn(files, places.collections))
  const lost = new Map(lostFoundings(files, places).map((one) => [one.number, one]))
  const untrue: number[] = []
  const remade: Manifest[] = []
  const numbers = [...new Set([...named, ...lost.keys()])].sort((a, b) => b - a)
  const known = numbers.flatMap((number) => {
    const isOurs = (one: Manifest | undefined): one is Manifest =>
      one?.number === number && (storeId === undefined || one.store_id === storeId)
    const path = places.manifest(number)
    const stored = looseManifest(files, path)
    if (isOurs(stored)) return [stored]
    const otherwise = lost.get(number) ?? (mend ? mendedManifest(files, path) : undefined)
    if (isOurs(otherwise)) remade.unshift(otherwise)
    else untrue.unshift(number)
    return isOurs(otherwise) ? [otherwise] : []
  })
  return { known, untrue, remade }
}
