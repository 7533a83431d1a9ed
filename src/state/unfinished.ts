/**
 * Folders that are made beside their place, under a name that nobody else gives one, and renamed
 * when they are whole. Whoever fails removes its own; what a killed process left is swept by the
 * next one that makes the like in that place.
 */
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { removeTree, syncDir, type Files } from './files.js'

const form = /^\..+\.new-[0-9a-f]{12}$/

/** Untouched for so long it is nobody's work any more, ms. */
const ageMs = 24 * 60 * 60 * 1000

/** Where a folder is made that is to be `target`, beside it. */
export const unfinishedPlace = (target: string): string =>
  join(dirname(target), `.${basename(target)}.new-${randomBytes(6).toString('hex')}`)

/** Removes what its maker failed at: the error that led here is the one to tell. */
export const removeUnfinished = (files: Files, made: string): void => {
  try {
    removeTree(files, made)
  } catch {
    // It has a temporary name, and is swept in a day.
  }
}

/**
 * Removes what killed processes left in a folder: of such a name, a day old, and with nothing in it
 * but what the program puts there. Whatever else is named alike is somebody's and stays.
 */
export const sweepUnfinished = (
  files: Files, parent: string, nowMs: number, isOurs: (path: string) => boolean,
): void => {
  for (const name of files.list(parent).filter((one) => form.test(one))) {
    const path = join(parent, name)
    const facts = files.stat(path)
    if (facts?.kind !== 'dir' || facts.mtimeMs > nowMs - ageMs) continue
    if (isOurs(path)) removeTree(files, path)
  }
}

/**
 * Fills a folder that is named `made` and gives it its name once it is whole, durably; `made` lies
 * on the disk of `target`. What `fill` fails at is removed.
 */
export const makeWhole = (
  files: Files, { made, target }: { readonly made: string, readonly target: string },
  fill: () => void,
): void => {
  try {
    fill()
    files.rename(made, target)
  } catch (error) {
    removeUnfinished(files, made)
    throw error
  }
  syncDir(files, dirname(target))
}
