/**
 * Where the state and the keys lie: decided by flag and environment, never by the cwd alone. And
 * what commands that are told carry, so that they mean the same places wherever they are typed.
 */
import { isAbsolute, join, resolve } from 'node:path'
import { fail } from '../base/errors.js'
import type { Carried } from '../base/told.js'
import {
  baseFolder, baseFolderIfNamed, pathFrom, type BaseFolder,
} from '../base/user-folders.js'
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
  const configDir = globals.configDir !== null
    ? pathFrom(deps.cwd, globals.configDir)
    : fromEnvironment(deps, 'SALLYPORT_CONFIG_DIR', 'XDG_CONFIG_HOME')
  if (`${configDir}/`.startsWith(`${stateDir}/`)) {
    throw fail.rejected('keys_inside_state', 'The key folder must lie outside the state.', {
      next: 'Name a folder that a copy of the state does not carry along, by --config-dir or '
        + 'SALLYPORT_CONFIG_DIR.',
    })
  }
  return { stateDir, configDir }
}

// An empty variable counts as absent, as the XDG rules say.
const fromEnvironment = (deps: CliDeps, own: string, xdg: BaseFolder): string => {
  const named = deps.env[own]
  return named ? pathFrom(deps.cwd, named) : join(baseFolder(deps, xdg), 'sallyport')
}

/**
 * A folder as the line or its environment named it, absolute; null where nothing need be said:
 * whoever types in the same environment means the same folder, unless it is relative there.
 */
const folder = (cwd: string, flag: string | null, variable: string | undefined): string | null => {
  if (flag !== null) return resolve(cwd, flag)
  return variable && !isAbsolute(variable) ? resolve(cwd, variable) : null
}

const pair = (flag: string, value: string | null): Carried => (value === null ? [] : [flag, value])

/** The flags of this run that its told commands carry. */
export const carriedBy = (
  { cwd, env }: Pick<CliDeps, 'cwd' | 'env'>, { stateDir, configDir }: Globals,
): Carried => [
  ...pair('--state-dir', folder(cwd, stateDir, env['SALLYPORT_STATE_DIR'])),
  ...pair('--config-dir', folder(cwd, configDir, env['SALLYPORT_CONFIG_DIR'])),
]

/**
 * What commands carry that the service of this run tells: whoever reads them types in some other
 * shell, which names no place. Its folders are told where they are not those of such a shell.
 */
export const carriedByService = (
  deps: Pick<CliDeps, 'env' | 'home'> & { readonly places: Places },
): Carried => {
  const other = (dir: string, base: BaseFolder): string | null => {
    const folder = baseFolderIfNamed(deps, base)
    return folder !== null && dir === join(folder, 'sallyport') ? null : dir
  }
  const { stateDir, configDir } = deps.places
  return [
    ...pair('--state-dir', other(stateDir, 'XDG_STATE_HOME')),
    ...pair('--config-dir', other(configDir, 'XDG_CONFIG_HOME')),
  ]
}
