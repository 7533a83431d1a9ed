/** A folder below `aside/` with copies of what a repair or a restore replaces. */
import { join } from 'node:path'
import { ensureDir, isTemporary, namesIn, removeTree, syncDir, temporaryName } from '../files.js'
import { makeWhole } from '../unfinished.js'
import { asideName, type Site } from './use-case.js'

/**
 * Makes the folder and answers its path. It comes under its name whole: half of one would be taken
 * for a former state that nobody can read, whose whole ceiling a later restore holds. Whoever fails
 * removes its own; what a killed process left goes here. The lock must be held.
 */
export const putAside = (
  { files, places, clock }: Site, kind: 'repair' | 'restore', fill: (folder: string) => void,
): string => {
  ensureDir(files, places.aside)
  for (const name of namesIn(files, places.aside).filter(isTemporary)) {
    removeTree(files, join(places.aside, name))
  }
  const made = join(places.aside, temporaryName())
  const target = join(places.aside, asideName(kind, clock))
  files.mkdir(made)
  makeWhole(files, { made, target }, () => {
    fill(made)
    syncDir(files, made)
  })
  return target
}
