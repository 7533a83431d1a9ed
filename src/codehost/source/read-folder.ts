/**
 * A folder read as the files of a publication: each file once, its bytes sealed as they were
 * hashed, so that what is published is what was read. Afterwards the folder is walked again; where
 * anything is not as it was found, nothing that was read counts.
 */
import {
  closeSync, constants, fstatSync, lstatSync, openSync, readSync, readlinkSync, realpathSync,
  statSync, type BigIntStats,
} from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { errnoOf } from '../../state/files.js'
import type { ArtifactRef, Artifacts, PackWriter } from '../../state/types.js'
import { sourceLabel } from '../constants.js'
import { fileScan, type ScannedBytes } from '../git/file-scan.js'
import { isLfsPointer } from '../git/lfs-pointer.js'
import { objectId, type ObjectId } from '../git/object-id.js'
import { GitTree } from '../git/tree.js'
import type { ScannedFile } from '../plan/changes.js'
import { noCounts, planLimitMax, requireClosable } from '../plan/plan-limits.js'
import { marksOf, type SourceMark } from './marks.js'
import { changedSource, refusedSource } from './refusals.js'
import {
  lookFailed, placeOf, stampOf, walkSource, type Stamp, type Walked, type WalkRules,
} from './walk.js'

export { sourceLabel }

/** What a folder is read from and for. */
export interface SourceInput {
  /** The folder, as a person names it. */
  readonly dir: string
  /** The tree that it will be laid over: only what differs from it is sealed. */
  readonly base: GitTree
  readonly artifacts: Pick<Artifacts, 'writePack'>
  /** Folders that are never published, nor what holds one: state, configuration, keys. */
  readonly ownFolders: readonly string[]
  /**
   * Told of a file that is too large to be published over a file of the base, in place of the
   * refusal: whoever is told refuses, and knows better why. Throws.
   */
  readonly tooLarge?: (path: string, before: ObjectId) => Promise<never>
  /** Ends the reading; what was sealed so far is let go. */
  readonly signal?: AbortSignal
}

/** A folder that was read; exactly one of `seal` and `abandon` has to be called. */
export interface SourceDraft {
  /** Every file, in the order of the walk; as `planPublication` takes them. */
  readonly files: readonly ScannedFile[]
  /** Marks of files that differ from the base, by path; those without one are left out. */
  readonly marks: ReadonlyMap<string, readonly SourceMark[]>
  /** Ids of contents that differ from the base and are LFS pointers themselves. */
  readonly lfsPointers: ReadonlySet<ObjectId>
  /** Publishes the sealed contents, a pack under `sourceLabel`; durable when it returns. */
  seal(): ArtifactRef
  /** Lets go of what was sealed. */
  abandon(): void
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants
const fileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

const fileBytesMax = planLimitMax.file_bytes
/** No host has a file above this, so no base has one; and nobody waits for one to be hashed. */
const anyFileBytesMax = 128 * 1024 * 1024
const ownerMayExecute = 0o100n
/**
 * Clocks of file systems tick: two writes within a tick leave one time. A file that was written to
 * so recently is read twice.
 */
const youngMs = 2_000
const isYoung = ({ ctimeNs, mtimeNs }: BigIntStats): boolean =>
  Date.now() - Number((ctimeNs > mtimeNs ? ctimeNs : mtimeNs) / 1_000_000n) < youngMs

/** After so many bytes, or files, whoever waits for this process has a turn. */
const turnBytes = 4 * 1024 * 1024
const turnFiles = 256

const readFully = (fd: number, into: Buffer, position: number, length: number): number => {
  let have = 0
  while (have < length) {
    const got = readSync(fd, into, have, length - have, position + have)
    if (got === 0) break
    have += got
  }
  return have
}

/** Whether the file ends where it did; its bytes are in `buffer` piece by piece. */
const eachPiece = (
  fd: number, size: number, buffer: Buffer, take: (piece: Buffer) => void,
): boolean => {
  for (let at = 0; at < size;) {
    const got = readFully(fd, buffer, at, Math.min(buffer.length, size - at))
    if (got === 0) return false
    take(buffer.subarray(0, got))
    at += got
  }
  return readSync(fd, Buffer.alloc(1), 0, 1, size) === 0
}

interface ReadFile {
  readonly scanned: ScannedBytes
  readonly mode: '100644' | '100755'
  /** Its bytes, good until the next file; null where it is larger than may be published. */
  readonly bytes: Buffer | null
}

class FileReader {
  /** Holds any file that may be published. */
  readonly #buffer = Buffer.allocUnsafe(fileBytesMax)
  #second: Buffer | undefined

  /** Reads a file that the walk found, whole and unchanged, or throws. */
  read({ at, path, stamp }: Walked, mayBeLarge: boolean): ReadFile {
    let fd: number
    try {
      fd = openSync(at, fileFlags)
    } catch (error) {
      throw lookFailed(error, path)
    }
    try {
      return this.#opened(fd, path, stamp, mayBeLarge)
    } catch (error) {
      throw lookFailed(error, path)
    } finally {
      closeSync(fd)
    }
  }

  wipe(): void {
    this.#buffer.fill(0)
    this.#second?.fill(0)
  }

  #opened(fd: number, path: string, stamp: Stamp, mayBeLarge: boolean): ReadFile {
    const stat = fstatSync(fd, { bigint: true })
    if (!stat.isFile() || stampOf(stat) !== stamp) throw changedSource(path)
    const size = Number(stat.size)
    const sizeMax = mayBeLarge ? anyFileBytesMax : fileBytesMax
    if (size > sizeMax) throw refusedSource('file_too_large', path)
    const scanned = this.#scanned(fd, size, path)
    const bytes = size > fileBytesMax ? null : this.#buffer.subarray(0, size)
    if (isYoung(stat) && !this.#same(fd, size, scanned, bytes, path)) throw changedSource(path)
    if (stampOf(fstatSync(fd, { bigint: true })) !== stamp) throw changedSource(path)
    return { scanned, bytes, mode: (stat.mode & ownerMayExecute) !== 0n ? '100755' : '100644' }
  }

  #scanned(fd: number, size: number, path: string): ScannedBytes {
    const scan = fileScan(size)
    if (!eachPiece(fd, size, this.#buffer, (piece) => scan.update(piece))) throw changedSource(path)
    return scan.end()
  }

  /** Whether a second look gives the same bytes. */
  #same(
    fd: number, size: number, { id }: ScannedBytes, bytes: Buffer | null, path: string,
  ): boolean {
    if (bytes === null) return this.#scanned(fd, size, path).id === id
    const second = this.#second ??= Buffer.allocUnsafe(fileBytesMax)
    return readFully(fd, second, 0, size) === size && second.subarray(0, size).equals(bytes)
  }
}

/** Where a link leads, as it says; nothing of it is followed. */
const linkText = (at: string, path: string): Buffer => {
  try {
    return readlinkSync(at, { encoding: 'buffer' })
  } catch (error) {
    // What is no link any more.
    throw errnoOf(error) === 'EINVAL' ? changedSource(path) : lookFailed(error, path)
  }
}

/** What was read so far, and what it comes to. */
class Reading {
  readonly files: ScannedFile[] = []
  readonly marks = new Map<string, readonly SourceMark[]>()
  readonly lfsPointers = new Set<ObjectId>()
  readonly #sealed = new Set<string>()
  #differing = 0
  #bytes = 0
  #largest = 0

  constructor(readonly base: GitTree, readonly pack: PackWriter) {}

  mayBeLarge(path: string): boolean {
    const there = this.base.at(path)
    return there !== undefined && !(there instanceof GitTree)
  }

  /** The file of the base that one of the folder would replace. */
  #leafAt(path: string) {
    const there = this.base.at(path)
    return there instanceof GitTree ? undefined : there
  }

  /** The id in the base of what a file is too large to be published over; null where it is not. */
  overlarge(path: string, { scanned, bytes }: ReadFile): ObjectId | null {
    const leaf = this.#leafAt(path)
    return bytes === null && leaf !== undefined && leaf.id !== scanned.id ? leaf.id : null
  }

  take(path: string, { scanned, mode, bytes }: ReadFile): void {
    const leaf = this.#leafAt(path)
    const file = { path, mode, ...scanned }
    this.files.push(file)
    if (leaf?.id === scanned.id && leaf.mode === mode) return
    if (bytes === null && leaf?.id !== scanned.id) throw refusedSource('file_too_large', path)
    this.#count(scanned.bytes)
    if (bytes === null || leaf?.id === scanned.id) return
    const marks = marksOf(path, bytes)
    if (marks.length > 0) this.marks.set(path, marks)
    if (isLfsPointer(bytes)) this.lfsPointers.add(scanned.id)
    if (this.#sealed.has(scanned.id)) return
    this.#sealed.add(scanned.id)
    this.pack.add(scanned.id, bytes)
  }

  /** A link is published by nobody: it must say what the base's says. */
  requireSameLink({ at, path, stamp }: Walked): void {
    const there = this.base.at(path)
    const same = !(there instanceof GitTree) && there?.mode === '120000'
      && there.id === objectId('blob', linkText(at, path))
    if (stampOf(lstatSync(at, { bigint: true })) !== stamp) throw changedSource(path)
    if (!same) throw refusedSource('link', path)
  }

  /** A folder that cannot become a plan is not read to its end. */
  #count(bytes: number): void {
    this.#differing += 1
    this.#bytes += bytes
    this.#largest = Math.max(this.#largest, bytes)
    requireClosable({
      ...noCounts, expectedFiles: this.#differing, expectedBytes: this.#bytes,
      largestFileBytes: this.#largest,
    })
  }
}

/** Opens the folder that a person named; it may be named by a link. */
const openTop = (dir: string): { readonly fd: number; readonly where: string } => {
  try {
    const where = realpathSync.native(dir)
    return { where, fd: openSync(where, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === '') throw error
    const missing = errno === 'ENOENT' || errno === 'ENAMETOOLONG'
    const reason = missing ? 'missing' : errno === 'ENOTDIR' ? 'not_folder' : 'unreadable'
    throw refusedSource(reason, null, error)
  }
}

const placesOf = (folders: readonly string[]): ReadonlySet<string> =>
  new Set(folders.flatMap((folder) => {
    const stat = statSync(folder, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? [] : [placeOf(stat)]
  }))

/** The folder must not lie in one of the own ones; the walk sees that it holds none. */
const rulesFor = (
  where: string, ownFolders: readonly string[], base: GitTree | null,
): WalkRules => {
  const forbidden = placesOf(ownFolders)
  for (let above = where; above !== dirname(above); above = dirname(above)) {
    const [place] = placesOf([above])
    if (place !== undefined && forbidden.has(place)) throw refusedSource('own_folder', null)
  }
  return { forbidden, base }
}

const lineOf = ({ kind, path, stamp }: Walked): string => `${kind} ${stamp} ${path}`

/** Walks again: what is there must be what was found, in the same order, to the last stamp. */
const requireUnchanged = (walk: Iterable<Walked>, found: readonly string[]): void => {
  let at = 0
  for (const one of walk) {
    if (lineOf(one) !== found[at]) throw changedSource(one.path)
    at += 1
  }
  if (at !== found.length) throw changedSource('')
}

const readAll = async (
  { fd, where }: { readonly fd: number; readonly where: string }, reading: Reading,
  { ownFolders, tooLarge, signal }: Pick<SourceInput, 'ownFolders' | 'tooLarge' | 'signal'>,
): Promise<void> => {
  const rules = rulesFor(where, ownFolders, reading.base)
  const found: string[] = []
  const reader = new FileReader()
  let [bytes, files] = [0, 0]
  try {
    for (const one of walkSource(fd, where, rules)) {
      found.push(lineOf(one))
      if (one.kind === 'folder') continue
      if (one.kind === 'link') {
        reading.requireSameLink(one)
        continue
      }
      const file = reader.read(one, reading.mayBeLarge(one.path))
      const over = reading.overlarge(one.path, file)
      if (over !== null) await tooLarge?.(one.path, over)
      reading.take(one.path, file)
      bytes += file.scanned.bytes
      files += 1
      if (bytes < turnBytes && files < turnFiles) continue
      ;[bytes, files] = [0, 0]
      await setImmediate()
      signal?.throwIfAborted()
    }
  } finally {
    reader.wipe()
  }
  requireUnchanged(walkSource(fd, where, rules), found)
}

/**
 * Reads a folder. Throws, and leaves nothing behind: `source_refused` (rejected) with its reason
 * and the path, `path_not_publishable` (rejected) for a name, `plan_not_closable` (rejected) for
 * too many files or bytes that differ from the base, `source_changed` (conflict) where anything in
 * it changed meanwhile, the disk's own failures for what is sealed, and the signal's reason.
 */
export const readSource = async (input: SourceInput): Promise<SourceDraft> => {
  const top = openTop(input.dir)
  try {
    const pack = input.artifacts.writePack(sourceLabel)
    try {
      const reading = new Reading(input.base, pack)
      await readAll(top, reading, input)
      return {
        files: reading.files, marks: reading.marks, lfsPointers: reading.lfsPointers,
        seal: () => pack.finish(), abandon: () => pack.abandon(),
      }
    } catch (error) {
      pack.abandon()
      throw error
    }
  } finally {
    closeSync(top.fd)
  }
}

/**
 * Walks a folder once without opening a file: what `readSource` would refuse by kind or place on
 * any base is refused before anybody is asked for one. Throws what `readSource` throws of these.
 */
export const surveySource = (
  { dir, ownFolders }: Pick<SourceInput, 'dir' | 'ownFolders'>,
): void => {
  const { fd, where } = openTop(dir)
  try {
    const walk = walkSource(fd, where, rulesFor(where, ownFolders, null))
    while (walk.next().done !== true) continue
  } finally {
    closeSync(fd)
  }
}
