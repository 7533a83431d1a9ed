/**
 * Which entries of a state directory are this program's, by their names alone. Whatever else lies
 * there is somebody's, and stays when the state goes. Nothing is followed: a link is somebody's,
 * save in a folder that the program fills with what it likes.
 */
import { join } from 'node:path'
import { isTemporary, namesIn, type Files } from './files.js'
import { foundingEpochs, isSnapshotName, logEpochs, manifestNumbers } from './paths.js'
import { isPendingName } from './pending.js'

/** What a name stands for: a file, a folder of such names, or a folder whose content is ours. */
type Own = 'file' | 'folder' | 'whole' | null

const topFiles = new Set(['STATE', 'lock', 'fold', 'witness.log', 'shots-lock-counters'])
const topFolders = new Set(['wal', 'collections', 'artifacts', 'pending', 'stages', 'run', 'aside'])

/**
 * Folders of `run/` and of `aside/` hold what nobody but the program names. The last part of a name
 * is that of a private file which a killed process was writing.
 */
const runForm = new RegExp(
  '^(?:session|sessions|lane|ops|fence|service|service-certificate\\.pem|page\\.html|shots|turn'
  + '|publishing|heard|machines|lock-line(?:\\.(?:first|\\d\\d))?|job_[0-9a-f-]{36}\\.fifo'
  + '|(?:session|service-certificate\\.pem|page\\.html)\\.\\d+\\.[0-9a-f]{8})$')
const asideForm = /^(?:(?:gone-)*(?:repair|restore|salvage|unreadable)-|torn-|kept$)/

const fileIf = (isOwn: boolean): Own => (isOwn ? 'file' : null)
const wholeIf = (isOwn: boolean): Own => (isOwn ? 'whole' : null)

const inWal = (name: string): boolean =>
  name === 'ended' || logEpochs([name]).length > 0 || foundingEpochs([name]).length > 0

const inFolder: Readonly<Record<string, (name: string) => Own>> = {
  wal: (name) => fileIf(inWal(name)),
  collections: (name) => fileIf(isSnapshotName(name) || manifestNumbers([name]).length > 0),
  artifacts: (name) => (/^[0-9a-f]{2}$/.test(name) ? 'folder' : null),
  pending: (name) => fileIf(isPendingName(name)),
  stages: (name) => wholeIf(/^job_[0-9a-f-]{36}$/.test(name)),
  run: (name) => wholeIf(runForm.test(name)),
  aside: (name) => wholeIf(asideForm.test(name)),
}

/** What an entry of the directory is, by the parts of its path. Pure. */
export const ownOf = (parts: readonly string[]): Own => {
  const [first = '', second, third, ...more] = parts
  // A folder that a killed repair or restore was filling.
  if (first === 'aside' && isTemporary(second ?? '')) return 'whole'
  if (isTemporary(parts.at(-1) ?? '')) return 'file'
  if (second === undefined) return topFolders.has(first) ? 'folder' : fileIf(topFiles.has(first))
  if (third === undefined) return inFolder[first]?.(second) ?? null
  return fileIf(first === 'artifacts' && more.length === 0 && third.startsWith(second)
    && /^[0-9a-f]{64}$/.test(third))
}

/** An entry below a state directory, in the order in which it can be removed: inner ones first. */
export interface DirEntry {
  /** From the state directory on. */
  readonly name: string
  readonly kind: 'file' | 'dir'
  readonly bytes: number
  readonly isOwn: boolean
}

/** Everything below a state directory; a folder of somebody else is one entry. */
export function* entriesBelow(
  files: Files, dir: string, parts: readonly string[] = [], isWhole = false,
): Generator<DirEntry, void, undefined> {
  for (const one of namesIn(files, join(dir, ...parts))) {
    const path = [...parts, one]
    const facts = files.stat(join(dir, ...path))
    if (facts === undefined) continue
    const own = isWhole ? 'whole' : ownOf(path)
    const isFolder = facts.kind === 'dir'
    const isEntered = isFolder && (own === 'folder' || own === 'whole')
    const isOwnFile = !isFolder && (own === 'whole' || (own === 'file' && facts.kind === 'file'))
    if (isEntered) yield* entriesBelow(files, dir, path, own === 'whole')
    yield {
      name: path.join('/'), kind: isFolder ? 'dir' : 'file', bytes: isFolder ? 0 : facts.size,
      isOwn: isEntered || isOwnFile,
    }
  }
}

/** Whether nothing lies below a folder but what a state directory of this program holds. */
export const isOwnState = (files: Files, dir: string): boolean =>
  [...entriesBelow(files, dir)].every(({ isOwn }) => isOwn)
