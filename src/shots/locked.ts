/**
 * Transactions of jobs that count how the state's lock was had (S-118, S-169): a lock that somebody
 * holds at the first try is a retry, one that is not had within the wait is a failure.
 */
import { SallyportError } from '../base/errors.js'
import type { Gov } from '../governance/context.js'
import { probeFile } from '../state/holds/kernel-file.js'
import { placesOf } from '../state/paths.js'
import type { Tx } from '../state/types.js'
import { countLockEvent } from './lock-counters.js'

const isTaken = (dir: string): boolean => {
  try {
    return probeFile(placesOf(dir).lock) === 'live'
  } catch {
    // Only the count suffers; the transaction tells what is wrong.
    return false
  }
}

/** Runs something that takes the state's lock and counts what became of the lock. */
export const countingLock = async <T>(gov: Gov, run: () => Promise<T>): Promise<T> => {
  const { dir } = gov.store
  if (isTaken(dir)) countLockEvent(dir, 'retry')
  try {
    return await run()
  } catch (error) {
    const gaveUp = error instanceof SallyportError && error.kind === 'locked'
    if (gaveUp) countLockEvent(dir, 'failure')
    throw error
  }
}

/** `store.transact`, counted. */
export const transactCounted = <T>(gov: Gov, verb: string, fn: (tx: Tx) => T): Promise<T> =>
  countingLock(gov, () => gov.store.transact(verb, fn))
