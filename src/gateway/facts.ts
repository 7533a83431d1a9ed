import type { Gov } from '../governance/context.js'
import { ledgerFacts, type LedgerFacts } from '../governance/ledger/facts.js'
import { latestConsent } from '../governance/policy/consents.js'
import { policyStanding, type PolicyBlock } from '../governance/policy/standing.js'
import type { Consent } from '../governance/rows.js'
import { presence } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { gatewayConsents } from './consents.js'
import {
  egressPurpose, gatewayCredentialRef, gatewayPurposes, slotNames, type GatewayPlace,
  type GatewayPurpose, type SlotName,
} from './constants.js'
import { latestProof, proofStateOf, type ProofState } from './proof.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute } from './setup.js'

/** The newest consent of a purpose and whether it authorizes anything now. */
export interface ConsentFact {
  readonly purpose: typeof egressPurpose | GatewayPurpose
  readonly newest: Consent | undefined
  readonly current: boolean
}

/** Everything that the status of the route depends on; nothing here is asked of the gateway. */
export interface GatewayFacts {
  readonly route: GatewayRoute | null
  readonly apiBase: string | null
  readonly key: { readonly present: boolean; readonly fingerprint: string | null }
  readonly policy: { readonly revision: number; readonly block: PolicyBlock }
  readonly account: LedgerFacts
  readonly consents: readonly ConsentFact[]
  readonly proofs: Readonly<Record<SlotName, ProofState>>
}

/** The facts of one consistent view; opens no socket. */
export const gatewayFacts = (gov: Gov, view: View, place: GatewayPlace): GatewayFacts => {
  const route = view.get(gatewayCollection, gatewayRouteId) ?? null
  const standing = policyStanding(gov.store, view)
  const reader = route === null ? null : gatewayConsents(gov, view, route, standing)
  const nowMs = gov.clock.wallMs()
  const proofs = slotNames.map((slot) =>
    [slot, proofStateOf(route, slot, latestProof(view, slot), nowMs)] as const)
  return {
    route,
    apiBase: place.baseUrl,
    key: presence(view, gatewayCredentialRef),
    policy: { revision: standing.head.revision, block: standing.block },
    account: ledgerFacts(view),
    consents: [
      {
        purpose: egressPurpose, newest: latestConsent(view, egressPurpose),
        current: reader?.egress() !== undefined,
      },
      ...gatewayPurposes.map((purpose) => ({
        purpose, newest: latestConsent(view, purpose),
        current: reader?.purpose(purpose) !== undefined,
      })),
    ],
    proofs: Object.fromEntries(proofs) as Record<SlotName, ProofState>,
  }
}
