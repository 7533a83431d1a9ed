import { SallyportError } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import type { AskOperation } from './operation.js'

/** Pause between two tries for the state lock, milliseconds. */
const lockPauseMs = 50

const isLockHeld = (error: unknown): boolean =>
  error instanceof SallyportError && error.code === 'lock_held'

/**
 * Writes what must not be lost once the provider was contacted. Somebody who holds the state lock
 * past `--wait` costs neither the answer nor the knowledge of its charge: the transaction, which
 * did not run, is tried again while `leftMs` says that time is left. Any other error goes on up.
 */
export const persist = async <T>(
  operation: AskOperation, leftMs: () => number, fn: (tx: Tx) => T,
): Promise<T> => {
  const { store, clock } = operation.ctx.gov
  for (;;) {
    try {
      return await store.transact('alpha ask', fn)
    } catch (error) {
      if (!isLockHeld(error) || leftMs() <= 0) throw error
      await clock.sleep(Math.min(lockPauseMs, leftMs()))
    }
  }
}
