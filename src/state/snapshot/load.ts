/** Finds the newest true manifest and reads every log after it. Takes no lock, changes no byte. */
import { fail } from '../../base/errors.js'
import { errnoOf, readRange, namesIn, type Files } from '../files.js'
import { decodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import { formatVersion, manifestNumbers, type Places } from '../paths.js'
import { isCutOff, lostFoundings } from './founding.js'
import { Generation, type OpenLog } from './generation.js'
import { basesAfter, goesOn, vouchedHeader, type LogBase } from './header.js'
import { readManifest, type Manifest } from './manifest.js'
import type { SegmentPool } from './pool.js'
import { tooOld } from '../state-file.js'

/** Why a store refuses writes. `code` is stable; `message` names no content. */
interface Damage {
  readonly code: string
  readonly message: string
}

/** A generation, and what is wrong with what was passed over for it. */
export interface Loaded {
  readonly generation: Generation
  readonly damage: Damage | undefined
}

interface LoadPlace {
  readonly files: Files
  readonly places: Places
  readonly pool: SegmentPool
  readonly storeId: string
}

const headerDamage: Damage = {
  code: 'log_header_damaged',
  message: 'The first line of a log is untrue; it was made again in memory instead.',
}
const generationDamage: Damage = {
  code: 'generation_damaged',
  message: 'The newest manifest is damaged; reads come from the one before.',
}
const foundingDamage: Damage = {
  code: 'generation_damaged',
  message: 'The newest manifest is damaged; it was made again in memory instead.',
}
const logMissing: Damage = {
  code: 'log_missing',
  message: 'The newest log is gone: a manifest or the log before names one that is not there.',
}
const gap: Damage = {
  code: 'log_damaged',
  message: 'A log does not go on where the one before it ends.',
}

interface FoundLog {
  readonly log: OpenLog
  readonly size: number
  readonly damage: Damage | undefined
}

/**
 * Opens the log that goes on from one of the bases. `gone`: there is none; undefined: what is there
 * goes on from none of them.
 */
const openLog = (
  { files, places }: LoadPlace, bases: readonly LogBase[],
): FoundLog | 'gone' | undefined => {
  let fd: number
  try {
    fd = files.open(places.log(bases[0]?.epoch ?? 0), 'read')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'gone'
    throw error
  }
  let keep = false
  try {
    const { size, ino } = files.fstat(fd)
    const first = readRange(files, fd, 0, Math.min(size, logHeaderBytesMax))
    const decoded = decodeLogHeader(first)
    const head = decoded ?? vouchedHeader(first, bases)
    if (head === undefined || !bases.some((base) => goesOn(head.header, base))) return undefined
    keep = true
    const log = { header: head.header, fd, inode: ino, start: head.end }
    return { log, size, damage: decoded === undefined ? headerDamage : undefined }
  } finally {
    if (!keep) files.close(fd)
  }
}

/** Reads on through the logs that follow; answers what is wrong with one of them. */
const readLogs = (
  place: LoadPlace, generation: Generation, first: FoundLog,
): Damage | undefined => {
  let found = first
  let damage: Damage | undefined
  for (;;) {
    generation.enter(found.log)
    generation.readTail(found.size)
    damage ??= found.damage
    const { epoch, sequence, chain, binding: { storeId, format } } = generation
    const next = openLog(place, [{
      storeId, epoch: epoch + 1, format, sequence, chain, manifest: null,
    }])
    if (next === 'gone') return damage
    if (next === undefined) return damage ?? followedWrongly(place, generation)
    found = next
  }
}

/**
 * The next log does not go on where this one was read to. It may have been read before its writer
 * was done; then the reader looks again. Where the log is untrue itself, its tail says so.
 */
const followedWrongly = ({ files }: LoadPlace, generation: Generation): Damage | undefined => {
  const size = files.stat(generation.logPath)?.size ?? 0
  if (generation.readTail(size)) return { ...gap, code: 'log_raced' }
  return generation.tail === 'clean' || generation.tail === 'torn' ? gap : undefined
}

/** A manifest with its logs; undefined where it never came into force. */
const openManifest = (place: LoadPlace, manifest: Manifest): Loaded | 'raced' | undefined => {
  const lease = place.pool.lease(manifest)
  let keep = false
  try {
    const generation = new Generation(place.files, place.places, manifest, lease)
    const found = openLog(place, basesAfter(manifest))
    if (found === 'gone' || found === undefined) {
      const { files, places } = place
      // A log of that number which does not name it: this one never came into force.
      if (manifest.founding && (found === undefined || isCutOff(files, places, manifest))) {
        return undefined
      }
      keep = true
      return { generation, damage: found === undefined ? gap : logMissing }
    }
    const damage = readLogs(place, generation, found)
    if (damage?.code === 'log_raced') {
      generation.closeLog()
      return 'raced'
    }
    keep = true
    return { generation, damage }
  } finally {
    if (!keep) lease.release()
  }
}

/** A change of the format that was cut off has raised STATE and nothing else. */
const requirePresentFormat = ({ format_version: version }: Manifest): void => {
  if (version < formatVersion) throw tooOld(version)
}

const tryLoad = (place: LoadPlace): Loaded | 'raced' | undefined => {
  const { files, places, storeId } = place
  const listed = (): number[] => manifestNumbers(namesIn(files, places.collections)).reverse()
  const numbers = listed()
  let damage: Damage | undefined
  for (const number of numbers) {
    const manifest = readManifest(files, places.manifest(number))
    if (manifest?.store_id === storeId) requirePresentFormat(manifest)
    const opened = manifest?.store_id === storeId && manifest.number === number
      ? openManifest(place, manifest) : 'untrue'
    const fine = typeof opened === 'object' && opened.damage === undefined &&
      !opened.generation.lease.incomplete
    // What is missing may have been swept by a fold that has published a newer manifest since.
    const raced = opened === 'raced' || (!fine && (listed()[0] ?? 0) > (numbers[0] ?? 0))
    if (raced) {
      if (typeof opened === 'object') letGo(opened.generation)
      return 'raced'
    }
    if (typeof opened === 'object') return { ...opened, damage: damage ?? opened.damage }
    if (opened === 'untrue') damage ??= generationDamage
  }
  return undefined
}

/** Closes what a generation holds open; only where no view can have been made of it. */
export const letGo = (generation: Generation): void => {
  generation.closeLog()
  generation.lease.release()
}

const isSound = (loaded: Loaded | undefined): boolean =>
  loaded !== undefined && loaded.damage === undefined &&
  ['clean', 'torn'].includes(loaded.generation.tail)

/** A later founding than what was loaded, whose manifest is gone or untrue and still known. */
const loadFounding = (place: LoadPlace, loaded: Loaded | undefined): Loaded | undefined => {
  const founded = lostFoundings(place.files, place.places).at(-1)
  const isLater = founded?.store_id === place.storeId &&
    founded.number > (loaded?.generation.manifest.number ?? 0)
  if (!isLater) return undefined
  requirePresentFormat(founded)
  const opened = openManifest(place, founded)
  if (typeof opened !== 'object') return undefined
  if (loaded !== undefined) letGo(loaded.generation)
  return { ...opened, damage: foundingDamage }
}

const triesMax = 32

/**
 * The newest valid generation; `damaged`/`no_valid_generation` when there is none,
 * `blocked`/`state_too_old` when a change of the format was cut off.
 */
export const loadNewest = (place: LoadPlace): Loaded => {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const loaded = tryLoad(place)
    if (loaded === 'raced') continue
    const found = isSound(loaded) ? loaded : loadFounding(place, loaded) ?? loaded
    if (found === undefined) break
    return found
  }
  throw fail.damaged('no_valid_generation', 'No log and manifest of this state are whole.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })
}
