/**
 * Begins a new log, folds the ones before, merges every run into one, removes what no manifest
 * needs, and sweeps artifacts without a record. The lock is held for the first and the last only.
 */
import { join } from 'node:path'
import { sweepOrphans } from '../artifacts.js'
import { filesOf } from '../directory.js'
import { isTemporary, removeFile, type Files } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import type { Store, View } from '../types.js'

/** What a compaction did. */
export interface CompactReport {
  readonly epoch: number
  readonly sequence: number
  /** Bytes of the log before; afterwards it holds no record. */
  readonly log_bytes_before: number
  readonly orphans_removed: number
}

/**
 * Compacts a store that is open for writing. `referenced` names the stored artifacts that documents
 * refer to; without it no artifact is removed. Orphans younger than a quarter of an hour stay,
 * because their record may be about to be written.
 */
export const compactState = async (
  opened: Store, referenced?: (view: View) => ReadonlySet<string>,
): Promise<CompactReport> => {
  const store = filesOf(opened)
  const before = await store.exclusive('state compact', () => {
    const { end } = store.generation
    store.rotate()
    return end
  })
  await store.mergeAll('state compact')
  return store.exclusive('state compact', () => {
    requireOwnFolders(store.files, store.dir, ['artifacts'])
    const orphans = referenced === undefined
      ? 0
      : sweepOrphans(
          store.files, store.places.artifacts, referenced(store.viewLocked()),
          store.clock.wallMs())
    sweepKeyFolder(store.files, store.keyPlaces.dir, store.clock.wallMs())
    const { epoch, sequence } = store.generation
    return { epoch, sequence, log_bytes_before: before, orphans_removed: orphans }
  })
}

/** Temporary files beside key and anchor of processes that died; a young one may be in use. */
const sweepKeyFolder = (files: Files, dir: string, nowMs: number): void => {
  if (files.stat(dir)?.kind !== 'dir') return
  for (const name of files.list(dir).filter(isTemporary)) {
    const facts = files.stat(join(dir, name))
    if (facts?.kind !== 'file' || facts.mtimeMs > nowMs - leftoverAgeMs) continue
    removeFile(files, join(dir, name))
  }
}

const leftoverAgeMs = 15 * 60 * 1000
