/** Former states that a restore has put aside: whole enough to be opened for reading. */
import { join } from 'node:path'
import type { Files } from '../files.js'
import { nodeFiles } from '../files.js'
import { placesOf } from '../paths.js'

/** How the folders begin into which `state restore` copies what it replaces. */
const replacedPrefix = 'restore-'

/** Folders of the states that restores have replaced in `dir`, oldest first. */
export const replacedStates = (dir: string, files: Files = nodeFiles): readonly string[] => {
  const { aside } = placesOf(dir)
  if (files.stat(aside) === undefined) return []
  return files.list(aside)
    .filter((name) => name.startsWith(replacedPrefix))
    .sort()
    .map((name) => join(aside, name))
    .filter((path) => files.stat(path)?.kind === 'dir')
}
