/** Opening the state directory for a verb. */
import { openStore } from '../state/store.js'
import type { Store } from '../state/types.js'
import type { StoreMode, VerbDeps } from './bound.js'

/** Opens the state directory of this run. Throws `no_state` where there is none. */
export const openCliStore = (deps: VerbDeps, mode: StoreMode): Store => {
  const { stateDir, configDir } = deps.places
  return openStore({
    dir: stateDir, configDir, mode, waitMs: deps.globals.waitMs, clock: deps.clock,
  })
}
