/** Writing a report's page where only its owner reads it, and never among the images. */
import {
  closeSync, constants, fsyncSync, lstatSync, openSync, realpathSync, statSync, unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { errnoOf, fullDisk } from '../../base/errno.js'
import { fail, SallyportError } from '../../base/errors.js'
import { pathFrom } from '../../base/user-folders.js'
import type { PagesBeside } from '../../observations/html/shown.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { locateFolder } from '../source/folder.js'
import { shotCollections } from '../observations/observation-rows.js'
import { savedSettings } from '../source/settings.js'

const notWritten = (error: unknown): SallyportError =>
  fullDisk(error, 'writing a report')
    ?? fail.failed('report_not_written', 'The report file could not be written.', {
      reason: errnoOf(error), cause: error,
    })

const realFolder = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (error) {
    throw fail.rejected('report_folder_missing', 'The folder of the report file is not there.', {
      reason: errnoOf(error), next: 'Make the folder first.',
    })
  }
}

/** The image folders: the configured one and every one that was ever scanned, as they are now. */
const watchedFolders = (ctx: ShotsContext, view: View): string[] => {
  const folders = view.all(shotCollections.folders).map(({ doc }) => doc.root)
  try {
    folders.push(locateFolder(ctx, savedSettings(view)).folder)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
  return folders.flatMap((folder) => {
    try {
      return [folder, realpathSync(folder)]
    } catch {
      return [folder]
    }
  })
}

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Where a page is wanted. */
export interface PageWanted {
  /** A new file, or a folder for one of that name. */
  readonly path: string
  /** The folder that a relative path begins at. */
  readonly cwd: string
  /** The name that the page of such a period always has; null where it has none. */
  readonly name: string | null
}

const fileExists = (): SallyportError =>
  fail.conflict('file_exists', 'There is a file of that name; it is not replaced.', {
    next: 'Name a file for a new one. A folder takes one page of each day, week or month.',
  })

/** Throws `conflict` `file_exists` where the name is taken: before anything is paid for a page. */
const requireFree = (path: string): void => {
  let found
  try {
    found = lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw notWritten(error)
  }
  if (found !== undefined) throw fileExists()
}

/**
 * The canonical path of a report file that may be written. Throws `rejected`:
 * `report_folder_missing`, `report_inside_root`, `report_inside_state`; `conflict` `file_exists`;
 * `failed` where it cannot be looked at.
 */
export const reportPath = (
  ctx: ShotsContext, view: View, { path, cwd, name }: PageWanted,
): string => {
  const asked = pathFrom(cwd, path)
  const wanted = name !== null && isFolder(asked) ? join(asked, name) : asked
  const folder = realFolder(dirname(wanted))
  if (watchedFolders(ctx, view).some((watched) => isInside(folder, watched))) {
    throw fail.rejected(
      'report_inside_root', 'A report is never written into the folder of the screenshots.',
      { next: 'Name a file somewhere else.' },
    )
  }
  const own = ctx.ownFolders.flatMap((one) => {
    try {
      return [realpathSync(one)]
    } catch {
      return []
    }
  })
  if (own.some((one) => isInside(folder, one))) {
    throw fail.rejected(
      'report_inside_state', 'A report is never written into the state or the key folder.',
      { next: 'Name a file somewhere else.' },
    )
  }
  const free = join(folder, basename(wanted))
  requireFree(free)
  return free
}

/** Pages of other periods beside a page that has its own name; undefined where it has another. */
export const pagesBeside = (path: string, name: string | null): PagesBeside | undefined =>
  (basename(path) !== name ? undefined : {
    has: (other) =>
      lstatSync(join(dirname(path), other), { throwIfNoEntry: false })?.isFile() === true,
  })

const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
}

/**
 * Writes a new file of mode 600, never over one that is there. Throws `conflict` `file_exists`,
 * `failed` where the disk refuses, and then nothing of it stays.
 */
export const writeReportFile = (path: string, text: string): void => {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  let descriptor: number
  try {
    descriptor = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
  } catch (error) {
    const code = errnoOf(error)
    throw code === 'EEXIST' || code === 'ELOOP' ? fileExists() : notWritten(error)
  }
  try {
    writeAll(descriptor, Buffer.from(text))
    fsyncSync(descriptor)
  } catch (error) {
    unlinkSync(path)
    throw notWritten(error)
  } finally {
    closeSync(descriptor)
  }
}

/** The same for several files: where one cannot be written, none of them stays. */
export const writeReportFiles = (
  pages: readonly { readonly path: string, readonly text: string }[],
): void => {
  const written: string[] = []
  try {
    for (const { path, text } of pages) {
      writeReportFile(path, text)
      written.push(path)
    }
  } catch (error) {
    for (const path of written) unlinkSync(path)
    throw error
  }
}
