/** What the use cases of the screenshot source take, out of a process. */
import { gatewayContext } from '../places.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { LookingWorld } from '../../governance/waiting.js'
import type { ShotsContext } from '../../shots/context.js'
import { clientOf } from '../client.js'
import type { World } from '../world.js'

const contextOf = (
  { env, home, places }: LookingWorld, gov: Gov,
  { client, signal }: Pick<ShotsContext['gateway'], 'client' | 'signal'>,
): ShotsContext => ({
  gov, env, home, workspace: deploymentProfile(gov.store).workspace,
  ownFolders: [places.stateDir, places.configDir],
  gateway: gatewayContext(gov, { client, signal }), signal,
  captures: async () => (await import('../../edge/stored-captures.js')).storedCaptures,
})

/** The context; nothing is opened or contacted. */
export const shotsContext = (world: World, gov: Gov): ShotsContext =>
  contextOf(world, gov, {
    client: clientOf(world, deploymentProfile(gov.store)), signal: world.stop,
  })

/** The same for whoever only looks: it has nobody to contact. */
export const lookingShots = (world: LookingWorld, gov: Gov): ShotsContext =>
  contextOf(world, gov, {
    client: () => Promise.reject(new TypeError('whoever looks contacts nobody')),
    signal: new AbortController().signal,
  })
