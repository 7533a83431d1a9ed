/** What stands where the folders and files of a state directory are meant; nothing is opened. */
import { basename, join } from 'node:path'
import { fileBytesMax } from '../limits.js'
import { replacedFolders, replacedMessage } from '../folders.js'
import { foundingEpochs, isSnapshotName, logEpochs, manifestNumbers } from '../paths.js'
import type { Problem } from '../types.js'
import type { Site } from './use-case.js'

const damage = (code: string, message: string, subject: string): Problem =>
  ({ code, severity: 'damage', message, subject })

const isLogName = (name: string): boolean => logEpochs([name]).length > 0
const isFoundingName = (name: string): boolean => foundingEpochs([name]).length > 0

/** Names of files that the program opens by their place, relative to the state directory. */
const ownFiles = ({ files, places }: Site): string[] => {
  const named = (folder: string, path: string, own: (name: string) => boolean): string[] =>
    files.stat(path) === undefined
      ? [] : files.list(path).filter(own).map((name) => join(folder, name))
  return [
    'STATE', 'lock', 'fold', 'witness.log',
    ...named('wal', places.wal, (name) => isLogName(name) || isFoundingName(name)),
    ...named('collections', places.collections, (name) =>
      isSnapshotName(name) || manifestNumbers([name]).length > 0),
  ]
}

/** Most bytes of a file that is read whole; the others are bounded by what is on record of them. */
const bytesMaxOf = (name: string): number => {
  if (name === 'STATE') return fileBytesMax.state
  if (name === 'witness.log') return fileBytesMax.witness
  const isManifest = manifestNumbers([basename(name)]).length > 0 || isFoundingName(basename(name))
  return isManifest ? fileBytesMax.manifest : Number.POSITIVE_INFINITY
}

const fileProblem = ({ files, dir }: Site, name: string): Problem | undefined => {
  const facts = files.stat(join(dir, name))
  if (facts === undefined) return undefined
  if (facts.kind !== 'file') {
    const text = 'Where a file is meant there is something else: move it away.'
    return damage('not_regular', text, name)
  }
  const bytesMax = bytesMaxOf(name)
  if (facts.size <= bytesMax) return undefined
  return damage('file_too_large',
    `A file is longer than the ${bytesMax} bytes that it may have: move it away.`, name)
}

/**
 * Folders that are links or files, or else files that are links, pipes, devices or folders, or that
 * are longer than they may be. While there is one, nothing further should be read.
 */
export const placeProblems = (site: Site): readonly Problem[] => {
  const replaced = replacedFolders(site.files, site.dir)
  if (replaced.length > 0) {
    return replaced.map((folder) => damage('folder_replaced', replacedMessage(folder), folder))
  }
  return ownFiles(site).flatMap((name) => fileProblem(site, name) ?? [])
}
