/**
 * The one layer through which the state directory touches the disk. Every call is synchronous and
 * goes through a `Files` value, so that a test can fail the n-th call, count syncs, or keep the
 * whole disk in memory and cut the power. No file is ever opened through a symbolic link, and what
 * is opened as a file is a regular one: a pipe or a device would keep the process for ever.
 */
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf, fullDisk, mountHint, shortWrite } from '../base/errno.js'
import { fail, SallyportError } from '../base/errors.js'
import { thisPlatform } from '../base/platform/this-platform.js'

export { errnoOf }

/**
 * What a file is opened for; each intent has fixed flags. `create` and `scratch` make a new file,
 * the latter to be read as well. Only `dir` (to sync a folder's entries)
 * follows a link, because a whole state directory may stand behind one; `folder` does not.
 */
export type OpenIntent =
  'read' | 'readwrite' | 'create' | 'scratch' | 'append' | 'lock' | 'dir' | 'folder'

/** The facts of a file that the state layer uses. `size` in bytes, `mtimeMs` since 1970. */
export interface FileFacts {
  readonly size: number
  readonly mtimeMs: number
  readonly dev: number
  readonly ino: number
  /** Permission bits only. */
  readonly mode: number
  readonly kind: 'file' | 'dir' | 'other'
}

/**
 * The disk. Methods throw Node's own errors (`code` ENOENT, ENOSPC, …); `open` throws `damaged`
 * `not_regular` for a link, pipe, socket, device or folder where a file is meant.
 */
export interface Files {
  open(path: string, intent: OpenIntent): number
  close(fd: number): void
  /** Reads into `buffer` from `position`; answers how many bytes. */
  read(fd: number, buffer: Uint8Array, position: number): number
  /** Writes once and answers how many bytes were taken; `null` appends. */
  write(fd: number, bytes: Uint8Array, position: number | null): number
  /** Makes a file's bytes and size, or a folder's entries, durable. */
  sync(fd: number): void
  /** Makes a file's bytes and size durable, but not its times: cheaper for appends. */
  syncData(fd: number): void
  truncate(fd: number, size: number): void
  fstat(fd: number): FileFacts
  /** Facts of the entry itself (a link is not followed), or undefined when there is none. */
  stat(path: string): FileFacts | undefined
  list(path: string): string[]
  rename(from: string, to: string): void
  link(from: string, to: string): void
  unlink(path: string): void
  mkdir(path: string): void
  rmdir(path: string): void
  /** Sets the modification time to now. */
  touch(path: string): void
  /** Bytes that may still be written on the disk of a folder. */
  freeBytes(path: string): number
  /** A path for `name` that goes through the open folder itself where the system allows it. */
  inside(dirFd: number, dirPath: string, name: string): string
}

const c = fs.constants
/** On a regular file these change nothing; opening anything else must neither wait nor stay. */
const guarded = c.O_NOFOLLOW | c.O_NONBLOCK | c.O_NOCTTY
const flagsOf: Record<OpenIntent, number> = {
  read: c.O_RDONLY | guarded,
  readwrite: c.O_RDWR | guarded,
  create: c.O_WRONLY | c.O_CREAT | c.O_EXCL | c.O_NOFOLLOW,
  scratch: c.O_RDWR | c.O_CREAT | c.O_EXCL | c.O_NOFOLLOW,
  append: c.O_WRONLY | c.O_CREAT | c.O_APPEND | guarded,
  lock: c.O_RDWR | c.O_CREAT | guarded,
  dir: c.O_RDONLY | c.O_DIRECTORY,
  folder: c.O_RDONLY | c.O_DIRECTORY | c.O_NOFOLLOW,
}

const factsOf = (s: fs.Stats): FileFacts => ({
  size: s.size,
  mtimeMs: s.mtimeMs,
  dev: s.dev,
  ino: s.ino,
  mode: s.mode & 0o777,
  kind: s.isFile() ? 'file' : s.isDirectory() ? 'dir' : 'other',
})

/** `damaged` `not_regular`: something else stands where a file of ours is meant. */
const notRegular = (path: string, cause?: unknown): SallyportError =>
  fail.damaged('not_regular',
    `Where the file ${basename(path)} is meant there is a link, a pipe, a device or a folder.`, {
      next: 'Move it away, put the file itself back if there is a copy, then run ' +
        '`sallyport state check`.',
      details: { file: basename(path) }, cause,
    })

const foldersOnly: ReadonlySet<OpenIntent> = new Set(['dir', 'folder'])
/** What the system says of links, sockets and pipes without a reader, and folders. */
const notRegularErrnos = new Set(['ELOOP', 'ENXIO', 'ENODEV', 'EISDIR'])

const openRegular = (path: string, intent: OpenIntent): number => {
  if (foldersOnly.has(intent)) return fs.openSync(path, flagsOf[intent])
  let fd: number
  try {
    fd = fs.openSync(path, flagsOf[intent], 0o600)
  } catch (error) {
    if (notRegularErrnos.has(errnoOf(error))) throw notRegular(path, error)
    throw error
  }
  // A file that was made exclusively is a regular one.
  if (intent === 'create' || intent === 'scratch' || fs.fstatSync(fd).isFile()) return fd
  fs.closeSync(fd)
  throw notRegular(path)
}

/** What open descriptors were opened for: Node names no file where a read fails. */
const opened = new Map<number, string>()

const readOpened = (fd: number, buffer: Uint8Array, position: number): number => {
  try {
    return fs.readSync(fd, buffer, 0, buffer.length, position)
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: opened.get(fd) }) : error
  }
}

/** The machine's own disk. Its errors name their `path`. */
export const nodeFiles: Files = {
  open: (path, intent) => {
    const fd = openRegular(path, intent)
    opened.set(fd, path)
    return fd
  },
  close: (fd) => {
    opened.delete(fd)
    fs.closeSync(fd)
  },
  read: readOpened,
  write: (fd, bytes, position) => fs.writeSync(fd, bytes, 0, bytes.length, position),
  sync: (fd) => fs.fsyncSync(fd),
  syncData: (fd) => fs.fdatasyncSync(fd),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  fstat: (fd) => factsOf(fs.fstatSync(fd)),
  stat: (path) => {
    const s = fs.lstatSync(path, { throwIfNoEntry: false })
    return s === undefined ? undefined : factsOf(s)
  },
  list: (path) => fs.readdirSync(path).sort(),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdir: (path) => fs.mkdirSync(path, { mode: 0o700 }),
  rmdir: (path) => fs.rmdirSync(path),
  touch: (path) => {
    const now = new Date()
    fs.utimesSync(path, now, now)
  },
  freeBytes: (path) => thisPlatform.freeBytes(path),
  inside: (dirFd, dirPath, name) => join(thisPlatform.placeOf(dirFd) ?? dirPath, name),
}

/** A disk that took part of what it was given and no more: a regular file's disk is full then. */
class ShortWrite extends Error {
  readonly code = shortWrite
}

/**
 * Turns a disk error into the program's error: `disk_full` (failed) for ENOSPC, EDQUOT and a
 * short write, `not_permitted` for refused access, `io_failed` for the rest. Never quotes content.
 */
export const ioFailure = (error: unknown, what: string): SallyportError => {
  if (error instanceof SallyportError) return error
  const errno = errnoOf(error)
  const details = { errno, while: what }
  const full = fullDisk(error, what)
  if (full !== null) return full
  const next = mountHint(errno) ?? 'Check the disk, then run `sallyport state check`.'
  if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS') {
    return fail.failed('not_permitted', `The system refused access (${what}).`, {
      next, details, cause: error,
    })
  }
  if (errno === '') throw error
  return fail.failed('io_failed', `The disk reported an error (${what}, ${errno}).`, {
    next, details, cause: error,
  })
}

/** What `fn` gives; an error of the disk becomes the program's own (`ioFailure`). */
export const orIoFailure = <T>(what: string, fn: () => T): T => {
  try {
    return fn()
  } catch (error) {
    throw ioFailure(error, what)
  }
}

/**
 * Writes all of `bytes` in one call or throws `ShortWrite`. What the system takes in part is gone
 * on with by the runtime, which answers with less only where the rest failed too.
 */
export const writeAll = (
  files: Files, fd: number, bytes: Uint8Array, position: number | null,
): void => {
  if (files.write(fd, bytes, position) !== bytes.length) {
    throw new ShortWrite('the disk took only part of a write')
  }
}

/**
 * Reads `length` bytes from `position`, fewer where the file ends: into a buffer of their own, or
 * into the beginning of `into`.
 */
export const readRange = (
  files: Files, fd: number, position: number, length: number, into?: Buffer,
): Buffer => {
  const buffer = into === undefined ? Buffer.allocUnsafe(length) : into.subarray(0, length)
  let have = 0
  while (have < length) {
    const got = files.read(fd, buffer.subarray(have), position + have)
    if (got === 0) break
    have += got
  }
  return buffer.subarray(0, have)
}

/**
 * What `fn` reads; undefined where it is damage by the program's own word. Whatever the disk says
 * is thrown: it may pass, and nothing may be taken for lost because of it.
 */
export const unlessUntrue = <T>(fn: () => T): T | undefined => {
  try {
    return fn()
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'damaged') return undefined
    throw error
  }
}

/** Runs `use` over an opened file and closes it whatever happens. */
export const withFile = <T>(
  files: Files, path: string, intent: OpenIntent, use: (fd: number) => T,
): T => {
  const fd = files.open(path, intent)
  try {
    return use(fd)
  } finally {
    files.close(fd)
  }
}

const tooLarge = (path: string, bytesMax: number): SallyportError => {
  const name = basename(path)
  const text = `The file ${name} is longer than the ${bytesMax} bytes that it may have.`
  return fail.damaged('file_too_large', text, {
    next: 'Move it away, put the file itself back if there is a copy, then run ' +
      '`sallyport state check`.',
    details: { file: name, bytes_max: bytesMax },
  })
}

/**
 * A whole file's bytes, or undefined when it does not exist. `damaged` `file_too_large` beyond
 * `bytesMax`, before anything is read; see `limits.ts`.
 */
export const readWhole = (files: Files, path: string, bytesMax: number): Buffer | undefined => {
  try {
    return withFile(files, path, 'read', (fd) => {
      const { size } = files.fstat(fd)
      if (size > bytesMax) throw tooLarge(path, bytesMax)
      return readRange(files, fd, 0, size)
    })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Bytes that are compared at a time. */
const comparedBytes = 256 * 1024

/** Whether a file holds exactly these bytes. */
export const holdsBytes = (files: Files, path: string, bytes: Buffer): boolean =>
  withFile(files, path, 'read', (fd) => {
    if (files.fstat(fd).size !== bytes.length) return false
    const piece = Buffer.allocUnsafe(Math.min(bytes.length, comparedBytes))
    for (let at = 0; at < bytes.length; at += piece.length) {
      const wanted = bytes.subarray(at, at + piece.length)
      if (!readRange(files, fd, at, wanted.length, piece).equals(wanted)) return false
    }
    return true
  })

/** Makes a folder's entries durable. */
export const syncDir = (files: Files, path: string): void =>
  withFile(files, path, 'dir', (fd) => files.sync(fd))

const temporaryMark = '.tmp-'

const processMark = randomBytes(8).toString('hex')
let temporaries = 0

/** A name no other process uses; every leftover of a crash is known by it. */
export const temporaryName = (): string => {
  temporaries += 1
  return `${temporaryMark}${process.pid}-${processMark}-${temporaries}`
}

const temporaryForm = /^\.tmp-\d+-[0-9a-f]{16}-\d+$/

export const isTemporary = (name: string): boolean => temporaryForm.test(name)

/** Gives back the room of files that came to nothing; what the disk says of that is not told. */
export const abandon = (files: Files, paths: readonly string[]): void => {
  for (const path of paths) {
    try {
      removeFile(files, path)
    } catch {
      // It stays, as after a crash, and is swept as such.
    }
  }
}

/**
 * Writes a synced file under a temporary name in `dir` and answers its path. Where that fails, what
 * was written is given back: on a full disk the room may be what a stop needs.
 */
export const writeTemporary = (files: Files, dir: string, bytes: Uint8Array): string => {
  const path = join(dir, temporaryName())
  try {
    withFile(files, path, 'create', (fd) => {
      writeAll(files, fd, bytes, 0)
      files.sync(fd)
    })
  } catch (error) {
    abandon(files, [path])
    throw error
  }
  return path
}

/**
 * Puts `bytes` at `path`, replacing what was there: unique temporary name, sync, rename, and sync
 * of the folder unless the caller does that once for many files.
 */
export const publish = (
  files: Files, path: string, bytes: Uint8Array, folder: 'sync' | 'later' = 'sync',
): void => {
  const dir = dirname(path)
  const temporary = writeTemporary(files, dir, bytes)
  try {
    files.rename(temporary, path)
  } catch (error) {
    abandon(files, [temporary])
    throw error
  }
  if (folder === 'sync') syncDir(files, dir)
}

/** Makes a folder (mode 700) when it is missing and syncs its parent; true when it was made. */
export const ensureDir = (files: Files, path: string): boolean => {
  if (files.stat(path) !== undefined) return false
  try {
    files.mkdir(path)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
  syncDir(files, dirname(path))
  return true
}

/** Makes a folder and every missing parent. */
export const ensureDirs = (files: Files, path: string): void => {
  const parent = dirname(path)
  if (parent !== path && files.stat(parent) === undefined) ensureDirs(files, parent)
  ensureDir(files, path)
}

/** `syncDir`, unless the folder is closed to this user: then nobody has changed it through us. */
export const syncDirIfOpen = (files: Files, path: string): void => {
  try {
    syncDir(files, path)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOENT'].includes(errnoOf(error))) throw error
  }
}

/**
 * The same as `ensureDirs`, and what was there already is durable too: a process that died may have
 * made the lowest of the folders that exist without syncing its name.
 */
export const ensureDurableDirs = (files: Files, path: string): void => {
  let lowest = path
  while (files.stat(lowest) === undefined && dirname(lowest) !== lowest) lowest = dirname(lowest)
  syncDirIfOpen(files, dirname(lowest))
  ensureDirs(files, path)
}

/** What `fn` gives; `gone` where what it is about is not there, or no more. */
const orGone = <T>(gone: T, fn: () => T): T => {
  try {
    return fn()
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    return gone
  }
}

/** Names in a folder; none where it is not there: what was in it is missed by those who need it. */
export const namesIn = (files: Files, path: string): string[] =>
  orGone([], () => files.list(path))

/** Removes a file; a missing one is fine. */
export const removeFile = (files: Files, path: string): void =>
  orGone(undefined, () => files.unlink(path))

/**
 * Removes a file or a whole folder, no link followed; missing is fine, and so is somebody else who
 * removes the same just now: two processes may sweep after a third.
 */
export const removeTree = (files: Files, path: string): void => {
  const facts = files.stat(path)
  if (facts === undefined) return
  if (facts.kind !== 'dir') return removeFile(files, path)
  for (const name of namesIn(files, path)) removeTree(files, join(path, name))
  orGone(undefined, () => files.rmdir(path))
}
