import type { AlphaContext } from '../../../alpha/context.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { clientOf } from '../../client.js'
import type { VerbDeps } from '../../bound.js'

/** What the capability's use cases take, out of this run. */
export const alphaContext = (deps: VerbDeps, gov: Gov): AlphaContext => {
  const profile = deploymentProfile(gov.store)
  return {
    gov, provider: profile.provider, client: clientOf(deps, profile), signal: deps.stop,
  }
}
