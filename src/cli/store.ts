/** Opening the state directory for a verb. */
import { fail, SallyportError } from '../base/errors.js'
import { requireInitialized } from '../governance/initialized.js'
import { openStore } from '../state/store.js'
import type { Store } from '../state/types.js'
import type { StoreMode, VerbDeps } from './bound.js'

/** Opens the state directory of this run. Throws `no_state` where there is no whole one. */
export const openCliStore = (deps: VerbDeps, mode: StoreMode): Store => {
  const { stateDir, configDir } = deps.places
  try {
    const store = openStore({
      dir: stateDir, configDir, mode, waitMs: deps.globals.waitMs, clock: deps.clock,
    })
    requireInitialized(store)
    return store
  } catch (cause) {
    const named = deps.globals.stateDir !== null
    if (!named || !(cause instanceof SallyportError) || cause.code !== 'no_state') throw cause
    throw fail.noState(cause.code, 'There is no state directory where --state-dir points.', {
      next: 'Correct it, or run `sallyport init` with the same --state-dir.', cause,
    })
  }
}
