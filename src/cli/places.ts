/**
 * Where the state and the keys lie: decided by flag and environment, never by the cwd alone. And
 * what commands that are told carry, so that they mean the same places wherever they are typed.
 */
import { isAbsolute, join, resolve } from 'node:path'
import { fail } from '../base/errors.js'
import { thisPlatform } from '../base/platform/this-platform.js'
import type { Carried } from '../base/told.js'
import {
  baseFolder, baseFolderIfNamed, pathFrom, realOf, type BaseFolder,
} from '../base/user-folders.js'
import type { FoldersNamed } from '../fabric/names/look-up.js'
import type { CliDeps } from './deps.js'
import type { Globals } from './globals.js'

/** The two folders of a store, as absolute paths. */
export interface Places {
  readonly stateDir: string
  /** Holds `keys/`; always outside the state directory. */
  readonly configDir: string
}

/**
 * The name that decides: that of the line, else that of SALLYPORT_AT, which --state-dir comes
 * before. Null for none. Throws `usage` `at_ambiguous` where the environment says both a name and a
 * folder: guessed wrong, it would be another state's money.
 */
const nameGiven = ({ env }: Pick<CliDeps, 'env'>, globals: Globals): string | null => {
  if (globals.at !== null) return globals.at
  const named = env['SALLYPORT_AT']
  if (globals.stateDir !== null || !named) return null
  const isElse = globals.configDir !== null
    || Boolean(env['SALLYPORT_STATE_DIR']) || Boolean(env['SALLYPORT_CONFIG_DIR'])
  if (!isElse) return named
  throw fail.usage('at_ambiguous', 'SALLYPORT_AT and something else say which state is meant.', {
    next: 'Unset SALLYPORT_AT, or SALLYPORT_STATE_DIR and SALLYPORT_CONFIG_DIR; or give --at.',
  })
}

/** Whether a line or its environment names a state, so that names have to be looked up. */
export const mayNameState = ({ env }: Pick<CliDeps, 'env'>, globals: Globals): boolean =>
  globals.at !== null || Boolean(env['SALLYPORT_AT'])

/**
 * Decides both folders; `named` finds those of a name. Throws `rejected`: `keys_inside_state`,
 * `home_not_absolute` where nothing names one of them, `path_not_utf8`; `usage` `at_ambiguous`; and
 * what `named` throws.
 */
export const placesOf = (deps: CliDeps, globals: Globals, named: FoldersNamed | null): Places => {
  const name = named === null ? null : nameGiven(deps, globals)
  if (named !== null && name !== null) return apart(named(deps, name))
  const stateDir = globals.stateDir !== null
    ? pathFrom(deps.cwd, globals.stateDir)
    : fromEnvironment(deps, 'SALLYPORT_STATE_DIR', 'XDG_STATE_HOME')
  return apart({ stateDir, configDir: configDirOf(deps, globals) })
}

/** The key folder where no name decides it. Throws as `placesOf`. */
export const configDirOf = (deps: CliDeps, globals: Globals): string =>
  (globals.configDir !== null
    ? pathFrom(deps.cwd, globals.configDir)
    : fromEnvironment(deps, 'SALLYPORT_CONFIG_DIR', 'XDG_CONFIG_HOME'))

/** The folders themselves. Throws `rejected` `keys_inside_state`. */
export const apart = (places: Places): Places => {
  const { stateDir, configDir } = places
  const { folded } = thisPlatform
  const isInside = (inner: string, outer: string): boolean =>
    folded(`${inner}/`).startsWith(folded(`${outer}/`))
  if (isInside(configDir, stateDir) || isInside(realOf(configDir), realOf(stateDir))) {
    throw fail.rejected('keys_inside_state', 'The key folder must lie outside the state.', {
      next: 'Move it to where a copy of the state does not carry it along, and name that place by '
        + '--config-dir or SALLYPORT_CONFIG_DIR.',
    })
  }
  return places
}

const withoutHome = 'Or name state and keys: SALLYPORT_STATE_DIR and SALLYPORT_CONFIG_DIR.'

// An empty variable counts as absent, as the XDG rules say.
const fromEnvironment = (deps: CliDeps, own: string, xdg: BaseFolder): string => {
  const named = deps.env[own]
  return named ? pathFrom(deps.cwd, named) : join(baseFolder(deps, xdg, withoutHome), 'sallyport')
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

/** The flags of this run that its told commands carry: a name where the line has one. */
export const carriedBy = (
  { cwd, env }: Pick<CliDeps, 'cwd' | 'env'>, { at, stateDir, configDir }: Globals,
): Carried => (at !== null ? ['--at', at] : [
  ...pair('--state-dir', folder(cwd, stateDir, env['SALLYPORT_STATE_DIR'])),
  ...pair('--config-dir', folder(cwd, configDir, env['SALLYPORT_CONFIG_DIR'])),
])

/**
 * What commands carry that the service of this run tells: whoever reads them types in some other
 * shell, which names no place. `name` is that of its state by now, null where it has none any more
 * or was started without; then its folders are told where they are not those of such a shell.
 */
export const carriedByService = (
  deps: Pick<CliDeps, 'env' | 'home'> & { readonly places: Places }, name: string | null = null,
): Carried => {
  if (name !== null) return ['--at', name]
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
