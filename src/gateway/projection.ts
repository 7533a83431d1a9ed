/** The configuration read of the route: closed, fields are only ever added. Pure. */
import * as v from 'valibot'
import { ledgerReasons } from '../governance/ledger/reasons.js'
import {
  egressPurpose, gatewayCapability, gatewayCredentialRef, gatewayPurposes, proofPurpose,
  routingControls, slotNames, type SlotName,
} from './constants.js'
import type { ConsentFact, GatewayFacts } from './facts.js'
import { gatewayReceiptShape } from './receipt.js'
import type { ProofState } from './proof.js'
import type { GatewayRoute, SlotSetup } from './setup.js'

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
  ...ledgerReasons('route'),
} as const

/** Name of a reason why the route or a slot is not `configured`. */
export type GatewayReasonCode = keyof typeof gatewayReasons

/** The four statuses there are. */
export const gatewayStatuses = [
  'disabled', 'configuration_required', 'blocked', 'configured',
] as const

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const statusFields = {
  status: v.picklist(gatewayStatuses),
  reason_code: v.nullable(v.picklist(Object.keys(gatewayReasons) as GatewayReasonCode[])),
  reason: v.nullable(v.string()),
}

const proofShape = v.strictObject({
  state: v.picklist(['missing', 'current', 'stale']),
  reason: v.nullable(v.string()),
  proof_id: v.nullable(v.string()),
  made_at: v.nullable(v.string()),
  reply_model: v.nullable(v.string()),
  reply_provider: v.nullable(v.string()),
  cost_microusd: v.nullable(count),
  receipt: v.nullable(gatewayReceiptShape),
})

const slotShape = v.strictObject({
  slot: v.picklist(slotNames),
  model: v.nullable(v.string()),
  upstream_allow: v.array(v.string()),
  request_cost_bound_microusd: v.nullable(count),
  timeout_seconds: v.nullable(v.number()),
  purpose: v.picklist(gatewayPurposes),
  consent_current: v.boolean(),
  ...statusFields,
  proof: proofShape,
})
/** One slot in a read. */
export type SlotProjection = v.InferOutput<typeof slotShape>

/** The `gateway` member of a configuration read. */
export const gatewayProjectionShape = v.strictObject({
  capability: v.literal(gatewayCapability),
  grant_id: v.string(),
  enabled: v.boolean(),
  api_base: v.string(),
  credential_ref: v.literal(gatewayCredentialRef),
  key_present: v.boolean(),
  credential_fingerprint: v.nullable(v.string()),
  spend_ceiling_microusd: count,
  /** Ceiling of the one deployment ledger; null when there is not exactly one. */
  shared_ceiling_microusd: v.nullable(count),
  cloud_egress_acknowledged: v.boolean(),
  consents: v.array(v.strictObject({
    purpose: v.picklist([egressPurpose, ...gatewayPurposes]),
    state: v.picklist(['none', 'granted', 'revoked', 'cleared', 'withdrawn']),
    current: v.boolean(),
    granted_at: v.nullable(v.string()),
  })),
  ...statusFields,
  slots: v.strictObject({ chat: slotShape, report: slotShape, screenshot: slotShape }),
  routing_controls: v.strictObject({
    allow_fallbacks: v.literal(false),
    data_collection: v.literal('deny'),
    zdr: v.literal(true),
    require_parameters: v.literal(true),
  }),
  tls_transport: v.literal(true),
  gateway_sees_plaintext: v.literal(true),
})

/** What `gateway show --json` prints. */
export const gatewayShowShape = v.strictObject({
  gateway: v.nullable(gatewayProjectionShape),
  policy_revision: count,
})
export type GatewayShow = v.InferOutput<typeof gatewayShowShape>

const isCurrent = (facts: GatewayFacts, purpose: ConsentFact['purpose']): boolean =>
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

const statusOf = (code: GatewayReasonCode | null) => ({
  status: code === null ? 'configured' as const : gatewayReasons[code].status,
  reason_code: code,
  reason: code === null ? null : gatewayReasons[code].text,
})

const proofProjection = ({ state, reason, proof }: ProofState) => ({
  state, reason,
  proof_id: proof?.proof_id ?? null,
  made_at: proof?.made_at ?? null,
  reply_model: proof?.reply_model ?? null,
  reply_provider: proof?.reply_provider ?? null,
  cost_microusd: proof?.cost_microusd ?? null,
  receipt: proof?.receipt ?? null,
})

const slotProjection = (
  facts: GatewayFacts, route: GatewayRoute, slot: SlotName,
): SlotProjection => {
  const setup: SlotSetup | null = route.slots[slot]
  return {
    slot,
    model: setup?.model ?? null,
    upstream_allow: setup?.upstream_allow ?? [],
    request_cost_bound_microusd: setup?.request_cost_bound_microusd ?? null,
    timeout_seconds: setup?.timeout_seconds ?? null,
    purpose: proofPurpose[slot],
    consent_current: isCurrent(facts, proofPurpose[slot]),
    ...statusOf(slotReasonOf(facts, route, slot)),
    proof: proofProjection(facts.proofs[slot]),
  }
}

const consentProjection = ({ purpose, newest, current }: ConsentFact) => ({
  purpose,
  state: newest?.state ?? 'none' as const,
  current,
  granted_at: newest?.granted_at ?? null,
})

/** The read; without a set-up the member is null. */
export const projectGateway = (facts: GatewayFacts): GatewayShow => {
  const { route, account } = facts
  if (route === null) return { gateway: null, policy_revision: facts.policy.revision }
  return {
    gateway: {
      capability: gatewayCapability,
      grant_id: route.grant_id,
      enabled: route.enabled,
      api_base: route.api_base,
      credential_ref: gatewayCredentialRef,
      key_present: facts.key.present,
      credential_fingerprint: facts.key.fingerprint,
      spend_ceiling_microusd: route.spend_ceiling_microusd,
      shared_ceiling_microusd: account.ok ? account.ceilingMicrousd : null,
      cloud_egress_acknowledged: isCurrent(facts, egressPurpose),
      consents: facts.consents.map(consentProjection),
      ...statusOf(gatewayReasonOf(facts, route)),
      slots: {
        chat: slotProjection(facts, route, 'chat'),
        report: slotProjection(facts, route, 'report'),
        screenshot: slotProjection(facts, route, 'screenshot'),
      },
      routing_controls: routingControls,
      tls_transport: true,
      gateway_sees_plaintext: true,
    },
    policy_revision: facts.policy.revision,
  }
}
