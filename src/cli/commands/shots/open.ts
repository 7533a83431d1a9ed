/** How the verbs that need no session work on the state: cron and unit files have nobody to ask. */
import { countingLock } from '../../../shots/locked.js'
import type { ShotsContext } from '../../../shots/context.js'
import type { VerbDeps } from '../../bound.js'
import { recoverFirst } from '../../mutate.js'
import { shotsContext } from './context.js'

/**
 * Runs `use` over the state, open for writing and recovered. The lock's waits are counted, and the
 * store is closed at the end, which folds a log that has grown: jobs write more than anything else.
 */
export const withJobs = async <T>(
  deps: VerbDeps, use: (ctx: ShotsContext) => Promise<T>,
): Promise<T> => {
  const gov = await deps.gov('write')
  try {
    await countingLock(gov, () => recoverFirst(deps, gov))
    return await use(shotsContext(deps, gov))
  } finally {
    gov.store.close()
  }
}
