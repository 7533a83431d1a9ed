/**
 * The folders inside a state directory are its own. A link in the place of one would lead writes,
 * sweeps and the lock of a log into files of somebody else, and `O_NOFOLLOW` guards only the last
 * name of a path; so every opening, every new generation and every sweep looks at them first.
 * Entries of a folder that should be files are looked at when they are opened (see `files.ts`).
 */
import { dirname, join } from 'node:path'
import { fail, type SallyportError } from '../base/errors.js'
import { ensureDir, type Files } from './files.js'
import type { Places } from './paths.js'

/** Every folder that the program makes in a state directory, outer ones first. */
const ownFolders = [
  'wal', 'collections', 'artifacts', 'run', 'run/ops', 'run/fence', 'run/lane',
  'run/lane/interactive', 'run/lane/high', 'run/lane/normal', 'run/sessions', 'run/publishing',
  'aside', 'stages', 'pending',
] as const

/** A folder inside the state directory, by its own name. */
type OwnFolder = (typeof ownFolders)[number] | `artifacts/${string}`

const isReplaced = (files: Files, dir: string, folder: OwnFolder): boolean => {
  const facts = files.stat(join(dir, folder))
  return facts !== undefined && facts.kind !== 'dir'
}

/** Folders of stored artifacts that are there: two digits of the names in them. */
const shardsOf = (files: Files, dir: string): readonly OwnFolder[] => {
  const artifacts = join(dir, 'artifacts')
  if (files.stat(artifacts)?.kind !== 'dir') return []
  return files.list(artifacts).filter((name) => /^[0-9a-f]{2}$/.test(name))
    .map((name): OwnFolder => `artifacts/${name}`)
}

/** Names of own folders in whose place something else stands; what lies below one is left out. */
export const replacedFolders = (files: Files, dir: string): readonly OwnFolder[] => {
  const replaced: OwnFolder[] = []
  for (const folder of [...ownFolders, ...shardsOf(files, dir)]) {
    if (replaced.some((outer) => folder.startsWith(`${outer}/`))) continue
    if (isReplaced(files, dir, folder)) replaced.push(folder)
  }
  return replaced
}

export const replacedMessage = (folder: OwnFolder): string =>
  `The folder ${folder} of the state directory is a link or a file.`

const replacedError = (folder: OwnFolder): SallyportError =>
  fail.damaged('folder_replaced', replacedMessage(folder), {
    next: `Move what is at ${folder} away and put the folder itself back there (or restore a ` +
      'backup), then run `sallyport state check`.',
    details: { folder },
  })

/** Throws `damaged` `folder_replaced` when one of the folders exists and is no real folder. */
export const requireOwnFolders = (
  files: Files, dir: string, folders: readonly OwnFolder[] = ownFolders,
): void => {
  for (const folder of folders) {
    if (isReplaced(files, dir, folder)) throw replacedError(folder)
  }
}

/** As `requireOwnFolders`, by places: for the two folders that hold a generation. */
export const requireGenerationFolders = (files: Files, places: Places): void =>
  requireOwnFolders(files, dirname(places.state), ['wal', 'collections'])

/**
 * Makes each folder that a state is written into and that is gone; answers which. What lay in one
 * is told as missing, file by file.
 */
export const ensureStateFolders = (files: Files, places: Places): readonly OwnFolder[] =>
  (['wal', 'collections', 'artifacts'] as const)
    .filter((folder) => ensureDir(files, places[folder]))
