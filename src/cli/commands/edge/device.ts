/** What the verbs of a capture device share: its context. */
import type { DeviceContext } from '../../../edge/device/capture.js'
import { nodeFiles } from '../../../state/files.js'
import { deviceDirOf } from '../../own-folders.js'
import type { VerbDeps } from '../../verb.js'

/** The context of a device's use cases in this run. */
export const deviceContext = (deps: VerbDeps): DeviceContext => ({
  dir: deviceDirOf(deps),
  files: nodeFiles,
  clock: deps.clock,
  signal: deps.stop,
  waitMs: deps.globals.waitMs,
  at: (step) => deps.observer.at(step),
})
