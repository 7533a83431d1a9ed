import { join } from 'node:path'
import { sandboxStatusShape } from '../../../sandbox/sandbox-contract.js'
import { folderFiles } from '../../../sandbox/folder.js'
import type { VerbDeps } from '../../verb.js'
import { askControl } from './control.js'
import { sandboxDir } from './dir.js'

/** The profile file of the sandbox that runs in the default folder. Throws as `askControl`. */
export const profileOfRunning = async (deps: VerbDeps): Promise<string> => {
  await askControl(deps, undefined, { method: 'GET', path: '/status' }, sandboxStatusShape)
  return join(sandboxDir(deps, undefined), folderFiles.profile)
}
