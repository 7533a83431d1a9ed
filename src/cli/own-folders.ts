/** The folders that the program keeps on this machine. */
import { join } from 'node:path'
import { SallyportError } from '../base/errors.js'
import { baseFolder, pathFrom } from '../base/user-folders.js'
import type { VerbDeps } from './verb.js'

const withoutHome = 'Or name the folder of the device: SALLYPORT_EDGE_DIR.'

/**
 * The folder of the device: SALLYPORT_EDGE_DIR, else `sallyport-edge` where programs keep state by
 * default, wherever the state directory lies. It is no state directory and may lie on a machine
 * that has none. Throws as `baseFolder`.
 */
export const deviceDirOf = (deps: VerbDeps): string => {
  const named = deps.env['SALLYPORT_EDGE_DIR']
  return named
    ? pathFrom(deps.cwd, named)
    : join(baseFolder(deps, 'XDG_STATE_HOME', withoutHome), 'sallyport-edge')
}

/**
 * What is never published: state, keys, and what a capture device keeps here, which is its
 * credential and the pictures of its spool.
 */
export const ownFoldersOf = (deps: VerbDeps): readonly string[] => {
  const { stateDir, configDir } = deps.places
  try {
    return [stateDir, configDir, deviceDirOf(deps)]
  } catch (error) {
    // A machine without a home has no folder of a device.
    if (error instanceof SallyportError) return [stateDir, configDir]
    throw error
  }
}
