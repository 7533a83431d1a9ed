/** Where the state and the keys lie: decided by flag and environment, never by the cwd alone. */
import { join } from 'node:path'
import { fail } from '../base/errors.js'
import { baseFolder, pathFrom, type BaseFolder } from '../base/user-folders.js'
import type { CliDeps } from './deps.js'
import type { Globals } from './globals.js'

/** The two folders of a store, as absolute paths. */
export interface Places {
  readonly stateDir: string
  /** Holds `keys/`; always outside the state directory. */
  readonly configDir: string
}

/**
 * Decides both folders. Throws `rejected`: `keys_inside_state`, `home_not_absolute` where nothing
 * names one of them, `path_not_utf8`.
 */
export const placesOf = (deps: CliDeps, globals: Globals): Places => {
  const stateDir = globals.stateDir !== null
    ? pathFrom(deps.cwd, globals.stateDir)
    : fromEnvironment(deps, 'SALLYPORT_STATE_DIR', 'XDG_STATE_HOME')
  const configDir = fromEnvironment(deps, 'SALLYPORT_CONFIG_DIR', 'XDG_CONFIG_HOME')
  if (`${configDir}/`.startsWith(`${stateDir}/`)) {
    throw fail.rejected('keys_inside_state', 'The key folder must lie outside the state.', {
      next: 'Set SALLYPORT_CONFIG_DIR to a folder that a copy of the state does not carry along.',
    })
  }
  return { stateDir, configDir }
}

// An empty variable counts as absent, as the XDG rules say.
const fromEnvironment = (deps: CliDeps, own: string, xdg: BaseFolder): string => {
  const named = deps.env[own]
  return named ? pathFrom(deps.cwd, named) : join(baseFolder(deps, xdg), 'sallyport')
}
