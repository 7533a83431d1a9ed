/** Which store a directory is, as far as that can be told without the store being sound. */
import { join, resolve } from 'node:path'
import { decodeDestruction } from './destruction.js'
import { nodeFiles, orIoFailure, readWhole, type Files } from './files.js'
import { fileBytesMax } from './limits.js'
import { keyPlaces, placesOf } from './paths.js'
import { decodeStateFile, isStateIn } from './state-file.js'

const anchorName = /^([\w-]+)\.(?:key|anchor)$/

/** Ids of every store that has a key or an anchor in the key folder. Throws as the disk does. */
const idsOfKeys = (files: Files, configDir: string): readonly string[] => {
  const folder = join(configDir, 'keys')
  const names = orIoFailure('the key folder', () =>
    (files.stat(folder) === undefined ? [] : files.list(folder)))
  return [...new Set(names.flatMap((name) => anchorName.exec(name)?.[1] ?? []))]
}

const idInState = (files: Files, path: string): string | undefined => {
  try {
    const bytes = readWhole(files, path, fileBytesMax.state)
    return bytes === undefined ? undefined
      : (decodeStateFile(bytes) ?? decodeDestruction(bytes))?.store_id
  } catch {
    // Whatever keeps it from being read: all stores are meant then.
    return undefined
  }
}

/**
 * Folders of stops of the store at `dir`. Where its STATE does not tell which store it is, those of
 * every store of the key folder: one of them is meant. Empty where there is no state at all.
 */
export const stopFoldersOf = (
  place: { readonly dir: string; readonly configDir: string }, files: Files = nodeFiles,
): readonly string[] => {
  const places = placesOf(resolve(place.dir))
  const configDir = resolve(place.configDir)
  const id = idInState(files, places.state)
  const ids = id !== undefined ? [id] : isStateIn(files, places) ? idsOfKeys(files, configDir) : []
  return ids.map((one) => keyPlaces(configDir, one).stops)
}

/**
 * Whether a folder of stops lies beside the key or the anchor of its store. Elsewhere, in the key
 * folder of another user or environment, nobody who uses the store sees what lies in it.
 */
export const isBesideKey = (stopFolder: string, files: Files = nodeFiles): boolean =>
  ['.key', '.anchor'].some((end) => files.stat(stopFolder.replace(/\.stops$/, end)) !== undefined)
