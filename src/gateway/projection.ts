/** The configuration read of the route: closed, fields are only ever added. Pure. */
import * as v from 'valibot'
import { count } from '../base/schema.js'
import { nullableSentence } from '../base/told.js'
import { requestsShape } from '../governance/stops/requests.js'
import {
  egressPurpose, gatewayCapability, gatewayCredentialRef, gatewayPurposes, routingControls,
  slotNames, type SlotName,
} from './constants.js'
import { gatewayReceiptShape } from './receipt.js'
import type { ProofState } from './proof.js'
import {
  gatewayReasonOf, gatewayReasons, gatewayStatuses, gatewayWordsOf, isCurrent, proofPurposeNow,
  slotReasonOf, type ConsentFact, type GatewayFacts, type GatewayReasonCode,
} from './readiness.js'
import type { GatewayRoute, SlotSetup } from './setup.js'

const statusFields = {
  status: v.picklist(gatewayStatuses),
  reason_code: v.nullable(v.picklist(Object.keys(gatewayReasons) as GatewayReasonCode[])),
  reason: nullableSentence,
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
    /** Who gave it; null without one. */
    giver: v.nullable(v.strictObject({
      principal_id: v.string(), name: v.nullable(v.string()), disabled: v.boolean(),
    })),
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
  /** After a save: what had left before of what it closed. */
  requests: v.optional(requestsShape),
})
export type GatewayShow = v.InferOutput<typeof gatewayShowShape>

const statusOf = (facts: GatewayFacts, code: GatewayReasonCode | null) => {
  const words = code === null ? null : gatewayWordsOf(code, facts)
  return {
    status: words?.status ?? 'configured' as const, reason_code: code, reason: words?.text ?? null,
  }
}

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
  const purpose = proofPurposeNow(facts, slot)
  return {
    slot,
    model: setup?.model ?? null,
    upstream_allow: setup?.upstream_allow ?? [],
    request_cost_bound_microusd: setup?.request_cost_bound_microusd ?? null,
    timeout_seconds: setup?.timeout_seconds ?? null,
    purpose,
    consent_current: isCurrent(facts, purpose),
    ...statusOf(facts, slotReasonOf(facts, route, slot)),
    proof: proofProjection(facts.proofs[slot]),
  }
}

const consentProjection = ({ purpose, newest, lapse, giver }: ConsentFact) => ({
  purpose,
  state: newest?.state ?? 'none' as const,
  current: lapse === null,
  granted_at: newest?.granted_at ?? null,
  giver,
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
      consents: Object.values(facts.consents).map(consentProjection),
      ...statusOf(facts, gatewayReasonOf(facts, route)),
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
