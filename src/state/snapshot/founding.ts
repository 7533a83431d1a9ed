/**
 * A founded generation comes into force with its log: the manifest is published first, then the log
 * that names it is renamed into place. The log lies under a temporary name before either: so a
 * manifest whose log never came into place is told from one whose log was lost. Until the next fold
 * all documents hang on that manifest: a second copy lies beside its log, and that of a creation
 * follows from STATE.
 */
import { join } from 'node:path'
import { readEnd } from '../ended-at.js'
import {
  isTemporary, publish, readRange, readWhole, removeFile, syncDir, unlessUntrue, withFile,
  writeTemporary, type Files,
} from '../files.js'
import { fileBytesMax } from '../limits.js'
import {
  decodeLogHeader, encodeLogHeader, firstChain, logHeaderBytesMax, type LogHeader,
} from '../log/format.js'
import { logEpochs, type Places } from '../paths.js'
import { decodeStateFile, type StateFile } from '../state-file.js'
import { basesAfter, headerOf } from './header.js'
import {
  encodeManifest, looseManifest, manifestDigest, writeManifest, type Manifest,
} from './manifest.js'

/** The first line of a log; undefined where it is untrue, or there is no such log. */
export const headerIn = (files: Files, path: string): LogHeader | undefined => {
  if (files.stat(path)?.kind !== 'file') return undefined
  return withFile(files, path, 'read', (fd) => {
    const size = Math.min(files.fstat(fd).size, logHeaderBytesMax)
    return decodeLogHeader(readRange(files, fd, 0, size))?.header
  })
}

/** Logs of foundings that are not in place, by path, with the manifests that they name. */
export const foundingLeftovers = (files: Files, places: Places): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  if (files.stat(places.wal)?.kind !== 'dir') return found
  for (const name of files.list(places.wal).filter(isTemporary)) {
    const path = join(places.wal, name)
    const manifest = headerIn(files, path)?.manifest_sha256 ?? null
    if (manifest !== null) found.set(path, manifest)
  }
  return found
}

/** The manifest that a creation begins with: it follows from STATE alone. */
export const firstManifest = (state: StateFile): Manifest => {
  const chain = firstChain(state.store_id)
  return {
    schema: 'sallyport.manifest.v2',
    format_version: state.format_version,
    store_id: state.store_id,
    number: 1,
    epoch: 0,
    founding: true,
    sequence: 0,
    chain,
    marks: [{ number: 0, sequence: 0, chain, policy_revision: null }],
    mark_floor: 0,
    written_at: state.created_at,
    state,
    next_run: 1,
    runs: [],
    merges: [],
  }
}

/** STATE, where it is true. */
export const stateIn = (files: Files, places: Places): StateFile | undefined => {
  const bytes = unlessUntrue(() => readWhole(files, places.state, fileBytesMax.state))
  return bytes === undefined ? undefined : decodeStateFile(bytes)
}

/** The founded manifest that a log names, from the copy beside it or from STATE. */
const namedBy = (
  files: Files, places: Places, epoch: number, digest: string,
): Manifest | undefined => {
  const copy = looseManifest(files, places.founding(epoch))
  if (copy !== undefined && manifestDigest(copy) === digest) return copy
  const state = stateIn(files, places)
  const first = state === undefined ? undefined : firstManifest(state)
  return first !== undefined && manifestDigest(first) === digest ? first : undefined
}

/**
 * Founded manifests that a log names and whose own file is gone or untrue, as far as they can be
 * told, oldest first: each is byte for byte what the log names.
 */
export const lostFoundings = (files: Files, places: Places): readonly Manifest[] => {
  if (files.stat(places.wal)?.kind !== 'dir') return []
  return logEpochs(files.list(places.wal)).flatMap((epoch) => {
    const digest = headerIn(files, places.log(epoch))?.manifest_sha256 ?? null
    const named = digest === null ? undefined : namedBy(files, places, epoch, digest)
    if (named === undefined) return []
    const stored = looseManifest(files, places.manifest(named.number))
    return stored !== undefined && manifestDigest(stored) === digest ? [] : [named]
  })
}

/** Whether a founding was cut off before its log came into place. */
export const isCutOff = (files: Files, places: Places, manifest: Manifest): boolean =>
  [...foundingLeftovers(files, places).values()].includes(manifestDigest(manifest))

/**
 * Publishes a founded manifest, whose files are written, twice, and its log. The rename of the log
 * decides. Both locks must be held.
 */
export const publishFounded = (files: Files, places: Places, manifest: Manifest): void => {
  const [base] = basesAfter(manifest)
  if (base === undefined) throw new TypeError('a founded manifest without a log')
  syncDir(files, places.collections)
  const log = writeTemporary(files, places.wal, encodeLogHeader(headerOf(base).header))
  publish(files, places.founding(base.epoch), encodeManifest(manifest), 'later')
  syncDir(files, places.wal)
  writeManifest(files, places.manifest(manifest.number), manifest)
  // What is noted of a lost log of this number is not true of this one.
  if (readEnd(files, places)?.epoch === base.epoch) removeFile(files, places.endedAt)
  files.rename(log, places.log(base.epoch))
  syncDir(files, places.wal)
}
