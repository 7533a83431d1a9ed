/** The lock `fold` for work over the whole directory: it is waited for, unlike by who folds. */
import type { Clock } from '../base/clock.js'
import { ioFailure } from './files.js'
import { takeLock, type LockMaker } from './lock.js'
import type { Places } from './paths.js'

interface FoldLockSite {
  readonly places: Places
  readonly lock: LockMaker
  readonly clock: Clock
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** Runs `fn` while nobody folds. */
export const whileNobodyFolds = async <T>(
  site: FoldLockSite, verb: string, fn: () => T | Promise<T>,
): Promise<T> => {
  const lock = site.lock(site.places.fold, site.clock)
  // Nobody stands in line for it: the line is that of the state lock.
  const { tryTake, give, holder, close } = lock
  const alone = {
    tryTake: tryTake.bind(lock), give: give.bind(lock), holder: holder.bind(lock),
    close: close.bind(lock),
  }
  try {
    try {
      await takeLock(alone, verb, site)
    } catch (error) {
      throw ioFailure(error, 'taking the lock')
    }
    try {
      return await fn()
    } finally {
      lock.give()
    }
  } finally {
    lock.close()
  }
}

/**
 * Runs `fn` while nobody folds and nobody writes. A backup holds `fold` for as long as it copies:
 * whoever held the state lock while waiting for that would keep every writer out meanwhile.
 */
export const whileAlone = <T>(
  site: FoldLockSite, verb: string, fn: () => T | Promise<T>,
): Promise<T> => whileNobodyFolds(site, verb, async () => {
  const lock = site.lock(site.places.lock, site.clock)
  try {
    await takeLock(lock, verb, site)
    try {
      return await fn()
    } finally {
      lock.give()
    }
  } finally {
    lock.close()
  }
})
