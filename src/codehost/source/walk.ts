/**
 * The files, links and folders below a folder, in the order of their names' bytes. Every name is
 * looked up in the open folder that holds it, so that a folder that becomes a link meanwhile leads
 * nowhere. Whatever a publication cannot have is refused by its name before it is opened; what the
 * base has under the same name may be the same, and is left to whoever compares it.
 */
import {
  closeSync, constants, fstatSync, lstatSync, openSync, opendirSync, type BigIntStats, type Dirent,
} from 'node:fs'
import { fail, SallyportError } from '../../base/errors.js'
import { shownText } from '../../base/shown-text.js'
import { errnoOf, nodeFiles } from '../../state/files.js'
import { fileNameOf, pathReason, requirePublishable } from '../git/publishable-path.js'
import { GitTree } from '../git/tree.js'
import {
  changedSource, refusedSource, sourceDepthMax, sourceEntriesMax, type SourceReason,
} from './refusals.js'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

/** What a file or folder is told by: where it lies, its size, mode and times. */
export type Stamp = string

export const stampOf = (stat: BigIntStats): Stamp =>
  [stat.dev, stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(':')

/** One step of a walk. */
export interface Walked {
  readonly kind: 'file' | 'folder' | 'link'
  /** From the top, joined by slashes; empty for the top itself. */
  readonly path: string
  /** A file or link by its open folder: good until the next step. */
  readonly at: string
  /** Taken from the open folder; that of a file or link by its name. */
  readonly stamp: Stamp
}

/** Device and inode of a folder, by which it is known under any name. */
export const placeOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`

/** What the system says where something is no longer what it was a moment ago. */
const changedErrnos = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ESTALE'])

/** The failure of a look at something that the walk found. */
export const lookFailed = (error: unknown, path: string): SallyportError => {
  if (error instanceof SallyportError) return error
  const errno = errnoOf(error)
  if (errno === '') throw error
  return changedErrnos.has(errno) ? changedSource(path) : refusedSource('unreadable', path, error)
}

const looked = <T>(path: string, look: () => T): T => {
  try {
    return look()
  } catch (error) {
    throw lookFailed(error, path)
  }
}

const notPublished: readonly (readonly [SourceReason, (entry: Dirent | BigIntStats) => boolean])[] =
  [
    ['fifo', (entry) => entry.isFIFO()],
    ['socket', (entry) => entry.isSocket()],
    ['device', (entry) => entry.isCharacterDevice() || entry.isBlockDevice()],
  ]

/** `.git` is not read at the top and refused below, but where the base has a submodule. */
const gitName = '.git'

/** What the base has at a path, as far as a walk asks; null while there is no base. */
const thereIn = (base: GitTree | null, path: string): 'nothing' | 'submodule' | 'other' | null => {
  const there = base?.at(path)
  if (there === undefined) return base === null ? null : 'nothing'
  return !(there instanceof GitTree) && there.mode === '160000' ? 'submodule' : 'other'
}

/** What only a new name is refused for; which of the publishable may be sent a plan says. */
const requireNewName = (path: string): void => {
  const reason = pathReason(path)
  if (reason !== null && reason !== 'workflow') requirePublishable(path)
}

const textOf = (folder: string, latin1: string): string => {
  const name = fileNameOf(Buffer.from(latin1, 'latin1'))
  if (name !== null) return folder === '' ? name : `${folder}/${name}`
  throw fail.rejected('path_not_publishable', 'A file is not published: its name is not UTF-8.', {
    reason: 'not_utf8', details: { path: shownText(`${folder}/${latin1}`.replace(/^\//, '')) },
    next: 'Rename it, or publish a folder without it.',
  })
}

interface Named {
  readonly name: string
  readonly path: string
  readonly kind: Walked['kind']
}

interface Open {
  readonly fd: number
  readonly path: string
  /** Under which name it is reached where the system has no names for open folders. */
  readonly where: string
}

const inside = ({ fd, where }: Open, name: string): string => nodeFiles.inside(fd, where, name)

/** Kind of an entry; some file systems do not say it in the folder. */
const kindOf = (folder: Open, entry: Dirent, name: string, path: string): Dirent | BigIntStats => {
  const known = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()
    || notPublished.some(([, is]) => is(entry))
  return known ? entry : looked(path, () => lstatSync(inside(folder, name), { bigint: true }))
}

/** An entry of a folder; none where it is left alone, and so is whatever lies in it. */
const namedOf = (folder: Open, entry: Dirent, base: GitTree | null): readonly Named[] => {
  const path = textOf(folder.path, entry.name)
  const there = thereIn(base, path)
  if (there === 'nothing') requireNewName(path)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const found = kindOf(folder, entry, name, path)
  const reason = notPublished.find(([, is]) => is(found))?.[0]
  if (reason !== undefined) throw refusedSource(reason, path)
  const kind = found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'file'
  return kind === 'folder' && there === 'submodule' ? [] : [{ name, path, kind }]
}

/** How a walk is bounded, and which folders it must not enter. */
export interface WalkRules {
  /** Places (see `placeOf`) of folders that are never published. */
  readonly forbidden: ReadonlySet<string>
  /**
   * What the folder will be laid over: a folder where it has a submodule is left alone. Null where
   * nobody was asked for it yet: then names and repositories within are left alone as well.
   */
  readonly base: GitTree | null
}

class Walk {
  #left = sourceEntriesMax

  constructor(readonly rules: WalkRules) {}

  * folder(folder: Open, depth: number): Generator<Walked> {
    const stat = looked(folder.path, () => fstatSync(folder.fd, { bigint: true }))
    if (this.rules.forbidden.has(placeOf(stat))) throw refusedSource('own_folder', folder.path)
    if (depth > sourceDepthMax) throw refusedSource('too_deep', folder.path)
    yield { kind: 'folder', path: folder.path, at: '', stamp: stampOf(stat) }
    for (const { name, path, kind } of this.#list(folder)) {
      const at = inside(folder, name)
      if (kind === 'folder') yield* this.#below(folder, name, path, depth)
      else {
        const found = looked(path, () => lstatSync(at, { bigint: true }))
        yield { kind, path, at, stamp: stampOf(found) }
      }
    }
  }

  * #below(folder: Open, name: string, path: string, depth: number): Generator<Walked> {
    const at = inside(folder, name)
    const fd = looked(path, () => openSync(at, folderFlags))
    try {
      yield* this.folder({ fd, path, where: at }, depth + 1)
    } finally {
      closeSync(fd)
    }
  }

  #list(folder: Open): readonly Named[] {
    const { base } = this.rules
    return looked(folder.path, () => {
      const entries = this.#entries(folder)
      const isNested = folder.path !== '' && entries.some(({ name }) => name === gitName)
      if (isNested && base !== null) throw refusedSource('nested_git', `${folder.path}/${gitName}`)
      if (isNested) return []
      // One character a byte, so that this is the order of the bytes.
      return entries.sort((a, b) => a.name < b.name ? -1 : 1)
        .flatMap((one) => namedOf(folder, one, base))
    })
  }

  #entries(folder: Open): Dirent[] {
    const entries: Dirent[] = []
    const opened = opendirSync(inside(folder, '.'), { encoding: 'latin1' })
    try {
      for (let one = opened.readSync(); one !== null; one = opened.readSync()) {
        if (folder.path === '' && one.name === gitName) continue
        if (this.#left === 0) throw refusedSource('too_many', null)
        this.#left -= 1
        entries.push(one)
      }
    } finally {
      opened.closeSync()
    }
    return entries
  }
}

/** Walks an open folder; `where` is its path. Stops being good when the folder is closed. */
export const walkSource = (fd: number, where: string, rules: WalkRules): Generator<Walked> =>
  new Walk(rules).folder({ fd, path: '', where }, 0)
