/**
 * Leaves nothing of removed rows in the files of the keyspace. A removal is a row of its own that
 * hides older ones, and the manifest before the newest keeps its files: what was removed is gone
 * from the disk only when everything has been merged into one run, and when the generation before
 * that has been swept too.
 */
import { fail } from '../../base/errors.js'
import { filesHere, filesOf, type Directory } from '../directory.js'
import { ioFailure } from '../files.js'
import { logEpochs, manifestNumbers } from '../paths.js'
import { mergeBytesAtClose } from '../snapshot/fold.js'
import type { Manifest } from '../snapshot/manifest.js'
import type { Store } from '../types.js'

/** A generation goes with each pass; others may fold in between. */
const passesMax = 8

/** Bytes of log beyond which a removal of many rows is folded in its middle. */
const logBytesMax = 1 * 1024 * 1024

/** Bytes of blocks that a walk through a whole state keeps. */
const cachedBytes = 2 * 1024 * 1024

/**
 * For whoever is about to walk through a whole state: blocks that were kept for long would only be
 * garbage that is old, and a process waits with collecting that until there is much of it.
 */
export const keepFewBlocks = (store: Store): void => {
  filesHere(store)?.keepAtMost(cachedBytes)
}

const folding = (store: Directory, mergeBytesMax: number): void => {
  try {
    store.fold({ mergeBytesMax })
  } catch (error) {
    throw ioFailure(error, 'folding the log')
  }
}

/**
 * Folds what many removals have made long, so that a process that removes rows without number holds
 * few of them: what is in the log, it has in memory. For between two transactions.
 */
export const foldMeanwhile = async (store: Store, verb: string): Promise<void> => {
  const at = filesHere(store)
  if (at === undefined || at.generation.end <= logBytesMax) return
  await at.exclusive(verb, () => at.rotate())
  folding(at, mergeBytesAtClose)
}

/** Whether a generation of before the merge, or a log that leads up to it, is still there. */
const isLeft = ({ files, places }: Directory, { number, epoch }: Manifest): boolean =>
  (manifestNumbers(files.list(places.collections))[0] ?? 0) < number
  || (logEpochs(files.list(places.wal))[0] ?? epoch + 1) <= epoch

/** Whether a manifest holds everything up to a record in one run. */
const isWhole = ({ runs, merges, sequence }: Manifest, upTo: number): boolean =>
  runs.length <= 1 && merges.length === 0 && sequence >= upTo

const notForgotten = (): Error =>
  fail.failed('not_forgotten', 'Older files that hold removed rows could not be swept.', {
    next: 'What was removed is in no view any more. Run `sallyport state check`, then this again.',
  })

/**
 * A manifest that holds everything up to a record in one run, made here or by somebody who merged
 * meanwhile: what this process made is not the newest then.
 */
const mergedWhole = async (store: Directory, verb: string, upTo: number): Promise<Manifest> => {
  await store.exclusive(verb, () => store.rotate())
  for (let n = 0; n < passesMax; n += 1) {
    await store.mergeAll(verb)
    await store.withoutFolding(verb, () => Promise.resolve())
    const { manifest } = store.generation
    if (isWhole(manifest, upTo)) return manifest
  }
  throw notForgotten()
}

/**
 * Merges everything down to the last run, and folds until no generation names rows that were
 * removed before the call. Others may read, write and fold beside it. Throws disk errors (all that
 * is durable stands, and the next call goes on) and `failed` `not_forgotten`.
 */
export const forgetRemoved = async (opened: Store, verb: string): Promise<void> => {
  const store = filesOf(opened)
  const upTo = store.read().sequence
  const manifest = await mergedWhole(store, verb, upTo)
  for (let n = 0; n < passesMax && isLeft(store, manifest); n += 1) {
    await store.exclusive(verb, () => store.rotate())
    // Somebody else's fold is waited for; what it leaves of older generations is this one's.
    await store.withoutFolding(verb, () => Promise.resolve())
    folding(store, 0)
  }
  if (isLeft(store, manifest)) throw notForgotten()
}
