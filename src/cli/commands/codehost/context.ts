/** What verbs that reach the code host work with. */
import { codehostBase, type CodehostContext } from '../../../codehost/context.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import type { VerbDeps } from '../../bound.js'
import { clientOf } from '../../client.js'

/** The context of this run. Throws `blocked` where the profile names no code host. */
export const codehostContext = (deps: VerbDeps, gov: Gov): CodehostContext => ({
  gov, signal: deps.stop, baseUrl: codehostBase(gov),
  client: clientOf(deps, deploymentProfile(gov.store)), producer: deps.producer,
})
