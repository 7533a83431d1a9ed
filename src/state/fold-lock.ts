/** The lock `fold` for work over the whole directory: it is waited for, unlike by who folds. */
import type { Clock } from '../base/clock.js'
import { ioFailure } from './files.js'
import { takeLock, type LockMaker, type StateLock } from './lock.js'
import type { Places } from './paths.js'

interface FoldLockSite {
  readonly places: Places
  readonly lock: LockMaker
  readonly clock: Clock
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

const whileHeld = async <T>(
  lock: StateLock, take: () => Promise<void>, fn: () => T | Promise<T>,
): Promise<T> => {
  try {
    await take()
    try {
      return await fn()
    } finally {
      lock.give()
    }
  } finally {
    lock.close()
  }
}

/** Runs `fn` while nobody folds. */
export const whileNobodyFolds = <T>(
  site: FoldLockSite, verb: string, fn: () => T | Promise<T>,
): Promise<T> => {
  const lock = site.lock(site.places.fold, site.clock)
  // Nobody stands in line for it: the line is that of the state lock.
  const { tryTake, give, holder, close } = lock
  const alone = {
    tryTake: tryTake.bind(lock), give: give.bind(lock), holder: holder.bind(lock),
    close: close.bind(lock),
  }
  const take = (): Promise<void> => takeLock(alone, verb, site).catch((error: unknown) => {
    throw ioFailure(error, 'taking the lock')
  })
  return whileHeld(lock, take, fn)
}

/**
 * Runs `fn` while nobody folds and nobody writes. A backup holds `fold` for as long as it copies:
 * whoever held the state lock while waiting for that would keep every writer out meanwhile.
 */
export const whileAlone = <T>(
  site: FoldLockSite, verb: string, fn: () => T | Promise<T>,
): Promise<T> => whileNobodyFolds(site, verb, () => {
  const lock = site.lock(site.places.lock, site.clock)
  return whileHeld(lock, () => takeLock(lock, verb, site), fn)
})
