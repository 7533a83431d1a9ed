/**
 * Whether the route may be used now: the facts of one view and the reasons in their order. Nothing
 * is asked of the gateway.
 */
import type { Gov } from '../governance/context.js'
import { ledgerFacts, type LedgerFacts } from '../governance/ledger/facts.js'
import { accountWords } from '../governance/judge/money-facts.js'
import { latestConsent } from '../governance/policy/consents.js'
import { policyStanding, type PolicyBlock } from '../governance/policy/standing.js'
import type { Consent } from '../governance/rows.js'
import { presence } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { gatewayConsents } from './consents.js'
import {
  egressPurpose, gatewayCredentialRef, gatewayPurposes, proofPurpose, slotNames, type GatewayPlace,
  type GatewayPurpose, type SlotName,
} from './constants.js'
import { latestProof, proofStateOf, type ProofState } from './proof.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute } from './setup.js'

/**
 * Reasons, most telling first: the first that holds is shown. Each has its status and a sentence
 * with what to do. The list is closed; scripts match the names.
 */
export const gatewayReasons = {
  route_disabled: {
    status: 'disabled', text: 'The route is disabled. Enable it with `sallyport gateway setup`.',
  },
  key_missing: {
    status: 'configuration_required',
    text: 'No gateway key is stored. Store one with `sallyport gateway setup --api-key-file F`.',
  },
  slot_not_set: {
    status: 'configuration_required',
    text: 'No model is set. Set one with `sallyport gateway setup --slot S --model M`.',
  },
  store_behind_anchor: {
    status: 'blocked',
    text: 'The state directory is not the newest of its kind. See `sallyport state check`.',
  },
  witness_mismatch: {
    status: 'blocked',
    text: 'The policy and its witness disagree. See `sallyport state check`.',
  },
  fixed_route_mismatch: {
    status: 'blocked',
    text: 'The stored gateway is not the sealed one. Save the route anew.',
  },
  credential_mismatch: {
    status: 'blocked',
    text: 'The stored key is not the one that was saved with this route. Save the key anew.',
  },
  save_in_progress: {
    status: 'blocked',
    text: 'A save of the model configuration is under way. Look again when it has ended.',
  },
  save_interrupted: {
    status: 'blocked',
    text: 'A save was interrupted and rolled back. Save the route anew to activate it.',
  },
  policy_revoked: {
    status: 'blocked',
    text: 'The policy is revoked for every route. Grant anew with `sallyport gateway setup'
      + ' --consent PURPOSE --acknowledge-cloud-egress`.',
  },
  egress_not_acknowledged: {
    status: 'blocked',
    text: 'Cloud egress is not acknowledged. Save the route with --acknowledge-cloud-egress.',
  },
  consent_not_current: {
    status: 'blocked',
    text: 'The purpose of this slot has no current consent. Give it with `sallyport gateway setup'
      + ' --consent PURPOSE --acknowledge-cloud-egress`.',
  },
  ...accountWords('route'),
} as const

/** Name of a reason why the route or a slot is not `configured`. */
export type GatewayReasonCode = keyof typeof gatewayReasons

/** The four statuses there are. */
export const gatewayStatuses = [
  'disabled', 'configuration_required', 'blocked', 'configured',
] as const

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

/** Whether a purpose has a current consent. */
export const isCurrent = (facts: GatewayFacts, purpose: ConsentFact['purpose']): boolean =>
  facts.consents.some((fact) => fact.purpose === purpose && fact.current)

const ledgerReason = (facts: GatewayFacts, route: GatewayRoute): GatewayReasonCode | null => {
  const { account } = facts
  if (!account.ok) return account.problem
  return account.ceilingMicrousd === route.spend_ceiling_microusd ? null : 'ceiling_mismatch'
}

/**
 * The first reason why nothing may go through the route, or null when key, acknowledgment and
 * accounting are ready; null promises nothing about the gateway.
 */
export const gatewayReasonOf = (
  facts: GatewayFacts, route: GatewayRoute,
): GatewayReasonCode | null => {
  if (!route.enabled) return 'route_disabled'
  if (!facts.key.present) return 'key_missing'
  if (slotNames.every((slot) => route.slots[slot] === null)) return 'slot_not_set'
  const { block } = facts.policy
  if (block === 'store_behind_anchor' || block === 'witness_mismatch') return block
  if (route.api_base !== facts.apiBase) return 'fixed_route_mismatch'
  if (route.credential_fingerprint !== facts.key.fingerprint) return 'credential_mismatch'
  if (block !== null) return block
  if (!isCurrent(facts, egressPurpose)) return 'egress_not_acknowledged'
  return ledgerReason(facts, route)
}

/** The same for one slot and the purpose of its proof. */
export const slotReasonOf = (
  facts: GatewayFacts, route: GatewayRoute, slot: SlotName,
): GatewayReasonCode | null => {
  const general = gatewayReasonOf(facts, route)
  if (general !== null) return general
  const setup = route.slots[slot]
  if (setup === null) return 'slot_not_set'
  if (!isCurrent(facts, proofPurpose[slot])) return 'consent_not_current'
  const above = setup.request_cost_bound_microusd > route.spend_ceiling_microusd
  return above ? 'request_bound_above_ceiling' : null
}

