/** What use cases that reach the code host take, out of a process. */
import { codehostBase, type CodehostContext } from '../../codehost/context.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import { clientOf } from '../client.js'
import type { World } from '../world.js'

/** The context. Throws `blocked` where the profile names no code host. */
export const codehostContext = (world: World, gov: Gov): CodehostContext => ({
  gov, signal: world.stop, baseUrl: codehostBase(gov),
  client: clientOf(world, deploymentProfile(gov.store)), producer: world.producer,
})
