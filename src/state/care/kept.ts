/**
 * Stored artifacts that no present record names because their records were not replayed: answers
 * that were paid for may be among them. They are moved aside, where no compaction sweeps them,
 * until a person removes them by name.
 */
import { join } from 'node:path'
import { fail } from '../../base/errors.js'
import { storedPath } from '../artifact-folder.js'
import { storedNames } from '../artifacts.js'
import { filesOf } from '../directory.js'
import { ensureDir, ioFailure, nodeFiles, removeFile, syncDir, type Files } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { placesOf } from '../paths.js'
import type { Store, View } from '../types.js'

/** Folder below `aside/`. */
const keptFolder = 'kept'
const keptName = /^[0-9a-f]{64}$/

/** A kept artifact; its name is the SHA-256 of its sealed bytes. */
export interface KeptArtifact {
  readonly name: string
  readonly bytes: number
}

const folderOf = (dir: string): string => join(placesOf(dir).aside, keptFolder)

/** What is kept aside for a state directory, by name. */
export const keptArtifacts = (dir: string, files: Files = nodeFiles): readonly KeptArtifact[] => {
  const folder = folderOf(dir)
  if (files.stat(folder)?.kind !== 'dir') return []
  return files.list(folder).flatMap((name) => {
    const facts = keptName.test(name) ? files.stat(join(folder, name)) : undefined
    return facts?.kind === 'file' ? [{ name, bytes: facts.size }] : []
  })
}

/**
 * Moves every stored artifact that no document refers to aside, under the lock; answers how many
 * went. `referenced` names those that documents refer to. May run twice.
 */
export const keepUnreferenced = (
  store: Store, referenced: (view: View) => ReadonlySet<string>,
): Promise<number> => {
  const at = filesOf(store)
  const { files, dir, places } = at
  return at.exclusive('keep artifacts', () => {
    requireOwnFolders(files, dir)
    const named = referenced(at.viewLocked())
    const loose = storedNames(files, places.artifacts).filter((name) => !named.has(name))
    if (loose.length === 0) return 0
    const folder = folderOf(dir)
    ensureDir(files, places.aside)
    ensureDir(files, folder)
    const moved = loose.filter((name) => {
      const from = storedPath(places.artifacts, name)
      const to = join(folder, name)
      if (files.stat(from)?.kind !== 'file' || files.stat(to) !== undefined) return false
      files.rename(from, to)
      return true
    })
    syncDir(files, folder)
    for (const shard of new Set(moved.map((name) => name.slice(0, 2)))) {
      syncDir(files, join(places.artifacts, shard))
    }
    return moved.length
  })
}

/** Removes one kept artifact for good. Throws `not_found` `artifact_not_kept`. */
export const removeKept = (dir: string, name: string, files: Files = nodeFiles): KeptArtifact => {
  const found = keptArtifacts(dir, files).find((one) => one.name === name)
  if (found === undefined) {
    throw fail.notFound('artifact_not_kept', 'No artifact of this name is kept aside.', {
      next: 'List them with: `sallyport state prune --show`.',
    })
  }
  try {
    removeFile(files, join(folderOf(dir), name))
    syncDir(files, folderOf(dir))
  } catch (error) {
    throw ioFailure(error, 'removing a kept artifact')
  }
  return found
}
