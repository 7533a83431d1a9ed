import type { MachineCheck } from '../../../fabric/doctor-contract.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { readFolder } from '../../../sandbox/folder.js'
import type { VerbDeps } from '../../verb.js'
import { isRunning } from './claim.js'
import { rehearsalOf } from './rehearsal.js'

/**
 * What `doctor` says of the sandbox of the default folder: that it runs, or that the state is
 * sealed for one that does not. Nothing where there is neither. Opens no socket.
 */
export const sandboxChecks = async (
  deps: VerbDeps, dir: string,
): Promise<readonly MachineCheck[]> => {
  try {
    if (isRunning(dir)) {
      const pid = (await readFolder(dir))?.pid ?? 'not known'
      return [{
        name: 'sandbox', result: 'note', text: `runs from ${dir}, process ${pid}`,
        next: 'End it with `sallyport sandbox stop`.',
      }]
    }
    const gov = await deps.gov('read')
    return await rehearsalOf(deps, deploymentProfile(gov.store)) === null ? [] : [{
      name: 'sandbox', result: 'note', text: 'this state is sealed for the sandbox, and none runs',
      next: 'Start it with `sallyport sandbox start --background`.',
    }]
  } catch {
    // There is no state, or none that opens: other checks tell it.
    return []
  }
}
