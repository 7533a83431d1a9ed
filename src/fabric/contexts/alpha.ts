import type { AlphaContext } from '../../alpha/context.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import { clientOf } from '../client.js'
import type { World } from '../world.js'

/** What the use cases of the text capability take, out of a process. */
export const alphaContext = (world: World, gov: Gov): AlphaContext => {
  const profile = deploymentProfile(gov.store)
  return { gov, provider: profile.provider, client: clientOf(world, profile), signal: world.stop }
}
