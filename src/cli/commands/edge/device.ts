/** What the verbs of a capture device share: where its folder is, and its context. */
import { resolve, join } from 'node:path'
import type { DeviceContext } from '../../../edge/device/capture.js'
import { nodeFiles } from '../../../state/files.js'
import type { VerbDeps } from '../../bound.js'

/**
 * The folder of the device: SALLYPORT_EDGE_DIR, else `sallyport-edge` beside the state of other
 * programs. It is no state directory and may lie on a machine that has none.
 */
export const deviceDirOf = ({ env, home, cwd }: VerbDeps): string => {
  const named = env['SALLYPORT_EDGE_DIR']
  if (named) return resolve(cwd, named)
  const base = env['XDG_STATE_HOME']
  return join(base?.startsWith('/') ? base : join(home, '.local/state'), 'sallyport-edge')
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
