/** What stands where the folders and files of a state directory are meant; nothing is opened. */
import { join } from 'node:path'
import { replacedFolders, replacedMessage } from './folders.js'
import { isPartName, logEpochs, manifestEpochs } from './paths.js'
import type { Problem } from './types.js'
import type { Site } from './use-case.js'

const damage = (code: string, message: string, subject: string): Problem =>
  ({ code, severity: 'damage', message, subject })

/** Names of files that the program opens by their place, relative to the state directory. */
const ownFiles = ({ files, places }: Site): string[] => {
  const named = (folder: string, path: string, own: (name: string) => boolean): string[] =>
    files.stat(path) === undefined
      ? [] : files.list(path).filter(own).map((name) => join(folder, name))
  return [
    'STATE', 'lock', 'witness.log',
    ...named('wal', places.wal, (name) => logEpochs([name]).length > 0),
    ...named('collections', places.collections, (name) =>
      isPartName(name) || manifestEpochs([name]).length > 0),
  ]
}

/**
 * Folders that are links or files, or else files that are links, pipes, devices or folders. While
 * there is one, nothing further should be read.
 */
export const placeProblems = (site: Site): readonly Problem[] => {
  const replaced = replacedFolders(site.files, site.dir)
  if (replaced.length > 0) {
    return replaced.map((folder) => damage('folder_replaced', replacedMessage(folder), folder))
  }
  return ownFiles(site)
    .filter((name) => {
      const facts = site.files.stat(join(site.dir, name))
      return facts !== undefined && facts.kind !== 'file'
    })
    .map((name) => damage(
      'not_regular', 'Where a file is meant there is something else: move it away.', name))
}
