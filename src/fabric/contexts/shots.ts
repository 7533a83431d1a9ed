/** What the use cases of the screenshot source take, out of a process. */
import { gatewayContext } from '../places.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { ShotsContext } from '../../shots/context.js'
import { clientOf } from '../client.js'
import type { World } from '../world.js'

/** The context; nothing is opened or contacted. */
export const shotsContext = (world: World, gov: Gov): ShotsContext => {
  const profile = deploymentProfile(gov.store)
  const { stateDir, configDir } = world.places
  return {
    gov,
    env: world.env,
    workspace: profile.workspace,
    home: world.home,
    ownFolders: [stateDir, configDir],
    gateway: gatewayContext(gov, { client: clientOf(world, profile), signal: world.stop }),
    signal: world.stop,
  }
}
