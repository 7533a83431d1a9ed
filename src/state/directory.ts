/**
 * What the care of a state asks of a store whose truth lies in a directory of this machine: its
 * files, its newest generation, its lock and its folding. A store whose truth lies elsewhere has no
 * directory, and is refused here alone.
 */
import type { Clock } from '../base/clock.js'
import { fail } from '../base/errors.js'
import type { Files } from './files.js'
import type { KeyPlaces, Places } from './paths.js'
import type { FoldOptions } from './snapshot/fold.js'
import type { Generation } from './snapshot/generation.js'
import type { Store, View } from './types.js'

/** A store that is open, with the directory behind it. */
export interface Directory extends Store {
  readonly keptIn: 'directory'
  readonly places: Places
  readonly keyPlaces: KeyPlaces
  readonly files: Files
  readonly clock: Clock
  /** The generation that this process stands on. */
  readonly generation: Generation
  /** A view of this very moment, for callers that hold the lock. */
  viewLocked(): View
  /** Keeps at most so many bytes of blocks in memory from now on. */
  keepAtMost(bytes: number): void
  /** Runs `fn` under the lock, caught up with the log. */
  exclusive<T>(verb: string, fn: () => T): Promise<T>
  /** Runs `fn` while nobody folds. */
  withoutFolding<T>(verb: string, fn: () => Promise<T>): Promise<T>
  /** Begins a new log. The lock must be held, see `exclusive`. */
  rotate(): void
  /** Folds sealed logs and merges; no lock is needed. True when nothing is left to do. */
  fold(options: FoldOptions): boolean
  /** Folds all sealed logs and merges every run into one, once nobody else folds. */
  mergeAll(verb: string): Promise<void>
}

/** Whether a state is kept in a directory: no other kind of store has this mark. */
export const isDirectory = (store: Store): store is Directory => store.keptIn === 'directory'

/** A store with a copy of its files on this machine. */
interface Replicated extends Store {
  readonly replica: Directory
  /** Takes stored files away from where the truth lies. */
  dropStored(names: readonly string[]): Promise<void>
  /** The same of what no row names; answers how many went. */
  sweepStored(referenced: (view: View) => ReadonlySet<string>): Promise<number>
}

const isReplicated = (store: Store): store is Replicated => store.keptIn === 'place'

/** The refusal of what is for a directory alone. */
export const stateElsewhere = (next: string): Error =>
  fail.rejected('state_elsewhere', 'This state is kept at a server that machines share.', { next })

/** The directory behind a store. `rejected` `state_elsewhere` where the truth lies elsewhere. */
export const directoryOf = (
  store: Store,
  next = 'Bring it back into this directory first, with `sallyport state unshare`.',
): Directory => {
  if (isDirectory(store)) return store
  throw stateElsewhere(next)
}

/** The directory in which this machine has its files, if any: the one there is, or a replica. */
export const filesHere = (store: Store): Directory | undefined =>
  (isReplicated(store) ? store.replica : isDirectory(store) ? store : undefined)

/** The same. `rejected` `state_elsewhere` where there is none. */
export const filesOf = (store: Store): Directory => filesHere(store) ?? directoryOf(store)

/** Takes stored files that have gone here away from where the truth lies, if not here. */
export const dropElsewhere = async (store: Store, names: readonly string[]): Promise<void> => {
  if (isReplicated(store) && names.length > 0) await store.dropStored(names)
}

/** Takes away from there what no row names; answers how many went. */
export const sweepElsewhere = async (
  store: Store, referenced: (view: View) => ReadonlySet<string>,
): Promise<number> => (isReplicated(store) ? store.sweepStored(referenced) : 0)
