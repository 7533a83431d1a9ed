/**
 * A founded generation comes into force with its log: the manifest is published first, then the log
 * that names it is renamed into place. The log lies under a temporary name before either: so a
 * manifest whose log never came into place is told from one whose log was lost.
 */
import { join } from 'node:path'
import type { Files } from '../files.js'
import { isTemporary, readRange, syncDir, withFile, writeTemporary } from '../files.js'
import type { LogHeader } from '../log/format.js'
import { decodeLogHeader, encodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import type { Places } from '../paths.js'
import { basesAfter, headerOf } from './header.js'
import type { Manifest } from './manifest.js'
import { manifestDigest, writeManifest } from './manifest.js'

/** The first line of a log; undefined where it is untrue, or there is no such log. */
export const headerIn = (files: Files, path: string): LogHeader | undefined => {
  if (files.stat(path)?.kind !== 'file') return undefined
  return withFile(files, path, 'read', (fd) => {
    const size = Math.min(files.fstat(fd).size, logHeaderBytesMax)
    return decodeLogHeader(readRange(files, fd, 0, size))?.header
  })
}

/** Logs of foundings that are not in place, by path, with the manifests that they name. */
export const foundingLeftovers = (
  files: Files, places: Places,
): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  if (files.stat(places.wal)?.kind !== 'dir') return found
  for (const name of files.list(places.wal).filter(isTemporary)) {
    const path = join(places.wal, name)
    const manifest = headerIn(files, path)?.manifest_sha256 ?? null
    if (manifest !== null) found.set(path, manifest)
  }
  return found
}

/** Whether a founding was cut off before its log came into place. */
export const isCutOff = (files: Files, places: Places, manifest: Manifest): boolean =>
  [...foundingLeftovers(files, places).values()].includes(manifestDigest(manifest))

/**
 * Publishes a founded manifest, whose files are written, and its log. The rename of the log
 * decides. Both locks must be held.
 */
export const publishFounded = (files: Files, places: Places, manifest: Manifest): void => {
  const [base] = basesAfter(manifest)
  if (base === undefined) throw new TypeError('a founded manifest without a log')
  syncDir(files, places.collections)
  const log = writeTemporary(files, places.wal, encodeLogHeader(headerOf(base).header))
  syncDir(files, places.wal)
  writeManifest(files, places.manifest(manifest.number), manifest)
  files.rename(log, places.log(base.epoch))
  syncDir(files, places.wal)
}
