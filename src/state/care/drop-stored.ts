/** Removing stored files whose rows are durably gone, and sweeping those of cut-off runs. */
import { dirname } from 'node:path'
import { storedPath } from '../artifact-folder.js'
import { oldTemporaries, orphansIn, sweepOrphans } from '../artifacts.js'
import { dropElsewhere, filesOf } from '../directory.js'
import { orIoFailure, removeFile, syncDir } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import type { Store, View } from '../types.js'

/** Files that one turn at the lock removes. */
const turnMax = 64

/** A stored file whose row is gone. */
export interface DroppedFile {
  /** SHA-256 of its bytes. */
  readonly name: string
  /** Whether a row names it again: an old copy may have been put in place meanwhile. */
  readonly isNamed: (view: View) => boolean
}

function* turnsOf<T>(values: Iterable<T>): Generator<readonly T[]> {
  let turn: T[] = []
  for (const value of values) {
    turn.push(value)
    if (turn.length < turnMax) continue
    yield turn
    turn = []
  }
  if (turn.length > 0) yield turn
}

/** What became of stored files. */
export interface Dropped {
  readonly files: number
  readonly bytes: number
  /** Files that still lie where the truth lies, if not here, and why; a sweep takes them later. */
  readonly left: number
  readonly why: unknown
}

/**
 * Removes stored files, so many in one turn at the lock; each folder is synced once a turn, so that
 * files of one folder should come side by side. Answers
 * how many bytes and files went. May run twice; a process that dies leaves files without a record.
 */
export const dropStored = async (
  store: Store, dropped: Iterable<DroppedFile>, verb: string,
): Promise<Dropped> => {
  const at = filesOf(store)
  const { files, places } = at
  let [count, bytes, left] = [0, 0, 0]
  let why: unknown
  for (const turn of turnsOf(dropped)) {
    const gone = await at.exclusive(verb, () => {
      requireOwnFolders(files, at.dir, ['artifacts'])
      const view = at.viewLocked()
      return turn.flatMap(({ name, isNamed }) => {
        const path = storedPath(places.artifacts, name)
        const facts = files.stat(path)
        if (facts?.kind !== 'file' || isNamed(view)) return []
        orIoFailure('removing stored files', () => removeFile(files, path))
        return [{ path, name, size: facts.size }]
      })
    })
    orIoFailure('removing stored files', () => {
      for (const shard of new Set(gone.map(({ path }) => dirname(path)))) syncDir(files, shard)
    })
    // Who does not answer once is not asked for each turn anew; here everything goes all the same.
    if (why === undefined) {
      why = await dropElsewhere(store, gone.map(({ name }) => name)).then(() => undefined, asIs)
    }
    if (why !== undefined) left += gone.length
    count += gone.length
    bytes += gone.reduce((sum, { size }) => sum + size, 0)
  }
  return { files: count, bytes, left, why }
}

const asIs = (error: unknown): unknown => error

/** Removes stored files that no row names, by the rule of `state compact`; answers how many. */
export const sweepStored = async (
  store: Store, referenced: (view: View) => ReadonlySet<string>, verb: string,
): Promise<number> => {
  const at = filesOf(store)
  const { files, places, clock } = at
  // Looked at without the lock: where there is nothing to sweep, nobody waits.
  const now = clock.wallMs()
  if (orphansIn(files, places.artifacts, referenced(at.read()), now).length === 0) return 0
  return at.exclusive(verb, () => {
    requireOwnFolders(files, at.dir, ['artifacts'])
    return sweepOrphans(files, places.artifacts, referenced(at.viewLocked()), now)
  })
}

/** Removes old unfinished files, which needs no look at any record; answers how many. */
export const sweepTemporaries = (store: Store): number => {
  const { files, places, clock, dir } = filesOf(store)
  requireOwnFolders(files, dir, ['artifacts'])
  return orIoFailure('removing unfinished files', () => {
    const found = oldTemporaries(files, places.artifacts, clock.wallMs())
    for (const path of found) removeFile(files, path)
    return found.length
  })
}
