/**
 * Whether the image folder is what is left of a disk that is not mounted: it is there then, and
 * empty. None of its images is gone.
 */
import { opendirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ShotsContext } from '../context.js'
import { folderProblem, type ResolvedFolder } from '../source/folder.js'
import { readLastTick } from './last-tick.js'

/**
 * Where a folder's disk is mounted: the highest folder above it that lies on the same one; null
 * where it is not there. The number of a disk is another one after each boot, the place is not.
 */
export const mountOf = (folder: string): string | null => {
  const dev = statSync(folder, { throwIfNoEntry: false })?.dev
  if (dev === undefined) return null
  const up = dirname(folder)
  const goesUp = up !== folder && statSync(up, { throwIfNoEntry: false })?.dev === dev
  return goesUp ? mountOf(up) : folder
}

const isEmpty = (folder: string): boolean => {
  const opened = opendirSync(folder)
  try {
    return opened.readSync() === null
  } finally {
    opened.closeSync()
  }
}

/**
 * What stands in the way of reading the folder in force, as `folderProblem`; `folder_unmounted`
 * where nothing is in it and it lies on another disk than its images did: what is left of a disk
 * that is not mounted now has lost none of them.
 */
export const folderProblemNow = (
  { gov }: Pick<ShotsContext, 'gov'>,
  { folder, folderDigest }: Pick<ResolvedFolder, 'folder' | 'folderDigest'>,
): string | null => {
  const problem = folderProblem(folder)
  if (problem !== null) return problem
  const before = readLastTick(gov.store.runDir, folderDigest)?.mount
  if (before === undefined || before === mountOf(folder)) return null
  try {
    return isEmpty(folder) ? 'folder_unmounted' : null
  } catch {
    // What cannot be listed is told by whoever walks it.
    return null
  }
}
