/** Where the state of a line lies. */
import type { StateSite } from '../../../fabric/state-care.js'
import type { VerbDeps } from '../../verb.js'

/** Place of the state, as the use cases over a whole directory take it. */
export const siteOf = (deps: VerbDeps): StateSite => ({
  dir: deps.places.stateDir,
  configDir: deps.places.configDir,
  clock: deps.clock,
  waitMs: deps.globals.waitMs,
  observer: deps.observer,
  signal: deps.stop,
  face: 'cli',
})
