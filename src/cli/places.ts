/** Where the state and the keys lie: decided by flag and environment, never by the cwd alone. */
import { join, resolve } from 'node:path'
import { fail } from '../base/errors.js'
import type { CliDeps } from './deps.js'
import type { Globals } from './globals.js'

/** The two folders of a store, as absolute paths. */
export interface Places {
  readonly stateDir: string
  /** Holds `keys/`; always outside the state directory. */
  readonly configDir: string
}

/** Decides both folders. Throws `rejected` when the keys would lie inside the state. */
export const placesOf = (deps: CliDeps, globals: Globals): Places => {
  const stateDir = globals.stateDir !== null
    ? resolve(deps.cwd, globals.stateDir)
    : fromEnvironment(deps, 'SALLYPORT_STATE_DIR', 'XDG_STATE_HOME', '.local/state')
  const configDir = fromEnvironment(deps, 'SALLYPORT_CONFIG_DIR', 'XDG_CONFIG_HOME', '.config')
  if (`${configDir}/`.startsWith(`${stateDir}/`)) {
    throw fail.rejected('keys_inside_state', 'The key folder must lie outside the state.', {
      next: 'Set SALLYPORT_CONFIG_DIR to a folder that a copy of the state does not carry along.',
    })
  }
  return { stateDir, configDir }
}

// An empty variable counts as absent, as the XDG rules say; so does a relative XDG path.
const fromEnvironment = (
  { env, home, cwd }: CliDeps, own: string, xdg: string, fallback: string,
): string => {
  const named = env[own]
  if (named) return resolve(cwd, named)
  const base = env[xdg]
  return join(base?.startsWith('/') ? base : join(home, fallback), 'sallyport')
}
