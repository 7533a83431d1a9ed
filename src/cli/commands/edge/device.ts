/** What the verbs of a capture device share: where its folder is, and its context. */
import { join } from 'node:path'
import { baseFolder, pathFrom } from '../../../base/user-folders.js'
import type { DeviceContext } from '../../../edge/device/capture.js'
import { nodeFiles } from '../../../state/files.js'
import type { VerbDeps } from '../../verb.js'

const withoutHome = 'Or name the folder of the device: SALLYPORT_EDGE_DIR.'

/**
 * The folder of the device: SALLYPORT_EDGE_DIR, else `sallyport-edge` beside the state of other
 * programs. It is no state directory and may lie on a machine that has none. Throws as
 * `baseFolder`.
 */
const deviceDirOf = (deps: VerbDeps): string => {
  const named = deps.env['SALLYPORT_EDGE_DIR']
  return named
    ? pathFrom(deps.cwd, named)
    : join(baseFolder(deps, 'XDG_STATE_HOME', withoutHome), 'sallyport-edge')
}

/** The context of a device's use cases in this run. */
export const deviceContext = (deps: VerbDeps): DeviceContext => ({
  dir: deviceDirOf(deps),
  files: nodeFiles,
  clock: deps.clock,
  signal: deps.stop,
  waitMs: deps.globals.waitMs,
  at: (step) => deps.observer.at(step),
})
