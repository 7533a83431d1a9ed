/** How every shots verb gets its context out of the command line's world. */
import { gatewayContext } from '../../../fabric/places.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import type { ShotsContext } from '../../../shots/context.js'
import type { VerbDeps } from '../../bound.js'
import { clientOf } from '../../client.js'

/** The context; nothing is opened or contacted. */
export const shotsContext = (deps: VerbDeps, gov: Gov): ShotsContext => {
  const profile = deploymentProfile(gov.store)
  const { stateDir, configDir } = deps.places
  return {
    gov,
    env: deps.env,
    workspace: profile.workspace,
    home: deps.home,
    ownFolders: [stateDir, configDir],
    gateway: gatewayContext(gov, { client: clientOf(deps, profile), signal: deps.stop }),
    signal: deps.stop,
  }
}
