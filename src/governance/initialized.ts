/** Whether `init` came to its end: the directory is one durable step, its first owner another. */
import { fail } from '../base/errors.js'
import type { Store, View } from '../state/types.js'
import { collections } from './rows.js'

/** True where `init` made the directory and died before it wrote who owns it. */
export const isInitUnfinished = (view: View): boolean => view.sequence === 0

/** True where no owner is left, whatever is of the policy: `init` has to make one anew. */
export const isInitLost = (view: View): boolean =>
  isInitUnfinished(view) || view.range(collections.principals, { limit: 1 }).length === 0

const again = 'Run `sallyport init` again, with the same arguments.'

/**
 * Throws `no_state`/`init_unfinished`. A store whose log is damaged is left to other words.
 * `followed`: of a replica, whether it has all that its place has; whoever reads asks nobody.
 */
export const requireInitialized = (store: Store, followed = true): void => {
  if (!isInitUnfinished(store.read()) || store.health().damage !== null) return
  throw fail.noState('init_unfinished', 'The making of this state directory was interrupted.', {
    next: followed || store.machine === null ? again
      : 'Run `sallyport login`, which reads what the state holds from its server.',
  })
}
