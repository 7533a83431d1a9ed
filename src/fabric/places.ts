import {
  alphaCapability, alphaCredentialRef, alphaProfile, alphaRuntime, type AlphaProvider,
} from '../alpha/constants.js'
import type { GatewayPlace } from '../gateway/constants.js'
import type { GatewayContext } from '../gateway/context.js'
import type { Gov } from '../governance/context.js'
import { deploymentProfile } from '../governance/profile.js'
import type { ReservedNames } from '../governance/selectors.js'
import { requireBudgetIfSet } from '../shots/budget.js'

/** Names of the text capability that no general selector or allow-list may hold. */
const reservedNames = (provider: AlphaProvider): ReservedNames => ({
  capability: alphaCapability,
  profile: alphaProfile,
  runtime: alphaRuntime,
  credentialRef: alphaCredentialRef,
  model: provider.model_id,
})

/** Where both routes of a sealed deployment are. */
export interface RoutePlaces {
  readonly provider: AlphaProvider
  readonly gateway: GatewayPlace
}

/** The places of an open store, out of its sealed profile. */
export const routePlaces = (gov: Pick<Gov, 'store'>): RoutePlaces => {
  const { provider, gateway } = deploymentProfile(gov.store)
  return {
    provider,
    gateway: { baseUrl: gateway?.base_url ?? null, reserved: reservedNames(provider) },
  }
}

/** What the gateway's use cases take; only this layer knows which names are reserved. */
export const gatewayContext = (
  gov: Gov, parts: Pick<GatewayContext, 'client' | 'signal'>,
): GatewayContext => ({
  gov, place: routePlaces(gov).gateway, requireBudget: requireBudgetIfSet, ...parts,
})
