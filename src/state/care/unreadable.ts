/**
 * Files of which the disk does not give back all bytes. An error of the disk is no damage, since it
 * may pass; it counts as a loss only for a file that a person has named. Then what can still be
 * read of it stays, the rest are zeros, and a repair goes on from there.
 */
import { dirname, join, normalize, relative } from 'node:path'
import { fail, SallyportError } from '../../base/errors.js'
import {
  ensureDir, errnoOf, ioFailure, readRange, removeTree, syncDir, temporaryName, withFile, writeAll,
  type Files,
} from '../files.js'
import type { Problem } from '../types.js'
import { note } from './repair-report.js'
import { asideName, type Site } from './use-case.js'

/** What disks say of bytes that they cannot give back; any other error says nothing of a file. */
const mediumErrnos = new Set(['EIO', 'EBADMSG'])

const isMedium = (error: unknown): boolean => mediumErrnos.has(errnoOf(error))

/** Files of a state directory that a repair, a check or a restore reads, by their own form. */
const fileForm = new RegExp(
  '^(?:STATE|witness\\.log|(?:wal|collections|artifacts/[0-9a-f]{2}'
  + '|aside/[\\w.-]+(?:/(?:wal|collections))?)/[\\w.-]+)$')

/** The file that an error of the disk is about, relative to the state directory. */
const fileOf = (error: unknown, dir: string): string | undefined => {
  const cause = error instanceof SallyportError ? error.cause : error
  if (!isMedium(cause) || !(cause instanceof Error) || !('path' in cause)) return undefined
  const file = typeof cause.path === 'string' ? relative(dir, cause.path) : ''
  return fileForm.test(file) ? file : undefined
}

/**
 * As `ioFailure`, for what looks after a whole directory: where one file of it cannot be read, the
 * error names it, and what to do when that stays so.
 */
export const careFailure = (error: unknown, what: string, { dir }: Site): SallyportError => {
  const failure = ioFailure(error, what)
  const file = fileOf(error, dir)
  if (file === undefined) return failure
  return fail.failed(failure.code, `${failure.message} The file is ${file}.`, {
    next: 'Check the disk and run the command again. If it stays so, `sallyport state repair ' +
      `--lost ${file}\` counts what cannot be read of it as lost.`,
    details: { ...failure.details, file }, cause: error,
  })
}

const pieceBytes = 4096

/** A piece of a file, zeros where the disk does not give it. */
const pieceOf = (
  files: Files, fd: number | undefined, at: number, length: number,
): { readonly bytes: Buffer; readonly isRead: boolean } => {
  try {
    if (fd !== undefined) return { bytes: readRange(files, fd, at, length), isRead: true }
  } catch (error) {
    if (!isMedium(error)) throw error
  }
  return { bytes: Buffer.alloc(length), isRead: false }
}

const openOrNot = (files: Files, path: string): number | undefined => {
  try {
    return files.open(path, 'read')
  } catch (error) {
    if (isMedium(error)) return undefined
    throw error
  }
}

/** Copies what can be read of a file to a new one; answers how many pieces are zeros. */
const copyReadable = (files: Files, from: string, size: number, to: string): number => {
  const fd = openOrNot(files, from)
  let unread = 0
  try {
    withFile(files, to, 'create', (target) => {
      for (let at = 0; at < size; at += pieceBytes) {
        const { bytes, isRead } = pieceOf(files, fd, at, Math.min(pieceBytes, size - at))
        if (!isRead) unread += 1
        writeAll(files, target, bytes, at)
      }
      files.sync(target)
    })
  } finally {
    if (fd !== undefined) files.close(fd)
  }
  return fd === undefined ? Math.max(1, unread) : unread
}

const unknownFile = (): SallyportError =>
  fail.rejected('lost_file_unknown', 'A file that is named as lost is no file of this state.', {
    next: 'Name it as the refusal of `sallyport state check` or `sallyport state repair` does.',
  })

const readable = (file: string): SallyportError =>
  fail.rejected('lost_file_readable', `All of ${file} can be read: nothing of it is lost.`, {
    next: 'Leave it out of --lost.', details: { file },
  })

const sizeOf = ({ files, dir }: Site, file: string): number => {
  const facts = fileForm.test(file) && normalize(file) === file
    ? files.stat(join(dir, file)) : undefined
  if (facts?.kind !== 'file') throw unknownFile()
  return facts.size
}

/** One of the named files and what can be read of it. */
interface Replaced {
  readonly file: string
  readonly copy: string
  readonly unread: number
}

const copied = (site: Site, folder: string, file: string): Replaced => {
  const size = sizeOf(site, file)
  const copy = join(folder, temporaryName())
  const unread = copyReadable(site.files, join(site.dir, file), size, copy)
  if (unread === 0) throw readable(file)
  return { file, copy, unread }
}

/**
 * Puts what can be read of each named file in its place; the file itself goes into a folder below
 * `aside/`. All of them are looked at before the first is touched. `rejected`: `lost_file_unknown`
 * for what is no file of a state, `lost_file_readable` where nothing of one is unreadable.
 */
export const replaceUnreadable = (site: Site, named: readonly string[]): readonly Problem[] => {
  if (named.length === 0) return []
  const { files, places, dir } = site
  const name = asideName('unreadable', site.clock)
  const folder = join(places.aside, name)
  ensureDir(files, places.aside)
  files.mkdir(folder)
  let all: readonly Replaced[]
  try {
    all = [...new Set(named)].map((file) => copied(site, folder, file))
  } catch (error) {
    removeTree(files, folder)
    throw error
  }
  for (const { file, copy } of all) {
    files.link(join(dir, file), join(folder, file.replaceAll('/', '-')))
    syncDir(files, folder)
    files.rename(copy, join(dir, file))
    syncDir(files, dirname(join(dir, file)))
  }
  syncDir(files, places.aside)
  return all.map(({ file, unread }) => note('unreadable_lost',
    `${unread} pieces of ${file}, of at most 4,096 bytes each, could not be read and count as ` +
    `zeros. The file itself lies in aside/${name}.`))
}
