/** How the remote vision profile stands, from what is stored; nothing is probed (S-123, S-125). */
import { egressPurpose, proofPurpose } from '../../gateway/constants.js'
import {
  gatewayFacts, gatewayReasonOf, gatewayReasons, isCurrent, type GatewayFacts,
} from '../../gateway/readiness.js'
import { findReservation } from '../../governance/ledger/find-reservation.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { callsLeft, dayStatus, type BudgetStatus } from '../budget.js'
import { imageBound, routeStatusOf } from '../gates.js'
import { visionPause } from '../paused.js'
import { savedSettings } from '../source/settings.js'
import type { VisionStatusPart } from './shape.js'

/** The part where nothing can be told; nothing unknown is ever safe. */
export const unknownVision = (reason: string): VisionStatusPart => ({
  renew_proof: null,
  gateway_state: 'unknown', gateway_reason: reason, selected_model: null, upstream_allow: [],
  cloud_consent: {
    analysis: null, cloud_upload: null, egress_acknowledged: false, vision_consent_current: false,
  },
  controls: { fallbacks: null, data_collection: null, zdr: null },
  budget: {
    period: 'rolling_day', budget_microusd: null, budget_requests: null,
    request_cost_bound_microusd: null,
    since: null, settled_microusd: null, held_microusd: null, requests: null,
    disputed_charges: null,
  },
  capability_proof: {
    state: 'unknown', reason: null, proof_id: null, made_at: null, receipt: null,
  },
  paused: null,
  remote_routing_safe: false,
  unsafe_reasons: [reason],
})

/** Every gate there is: those of a scan, and proof and spend that only analysis asks for. */
const unsafeReasons = (ctx: ShotsContext, view: View, spend: BudgetStatus): string[] => {
  const { reasons, proof, route } = routeStatusOf(ctx, view)
  const bound = route === null ? null : imageBound(savedSettings(view), route.setup)
  const used = bound !== null && callsLeft(spend, bound) === 0
  return [
    ...reasons, ...(proof === 'current' ? [] : [`proof_${proof}`]),
    ...(used ? ['budget_exhausted'] : []),
  ]
}

const gatewayState = (facts: GatewayFacts): Pick<
  VisionStatusPart, 'gateway_state' | 'gateway_reason'
> => {
  if (facts.route === null) return { gateway_state: 'not_set_up', gateway_reason: null }
  const reason = gatewayReasonOf(facts, facts.route)
  return {
    gateway_state: reason === null ? 'configured' : gatewayReasons[reason].status,
    gateway_reason: reason,
  }
}

const pausePart = (ctx: ShotsContext, view: View): VisionStatusPart['paused'] => {
  const pause = visionPause(ctx, view)
  if (pause === null) return null
  const { reason, refusals, since, until, operation_id } = pause
  const observation_id = findReservation(view, operation_id)?.subject ?? null
  return { reason, refusals, since, until, operation_id, observation_id }
}

/** The remote vision profile. */
export const visionPart = (ctx: ShotsContext, view: View): VisionStatusPart => {
  const facts = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  const saved = savedSettings(view)
  const slot = facts.route?.slots.screenshot ?? null
  const { state, reason, proof } = facts.proofs.screenshot
  const consented = (purpose: keyof GatewayFacts['consents']): boolean =>
    isCurrent(facts, purpose)
  const nowMs = ctx.gov.clock.wallMs()
  const spend = dayStatus(view, nowMs, saved)
  const unsafe = unsafeReasons(ctx, view, spend)
  return {
    renew_proof: saved.renew_proof ?? null,
    ...gatewayState(facts),
    selected_model: slot?.model ?? null,
    upstream_allow: [...slot?.upstream_allow ?? []],
    cloud_consent: {
      analysis: saved.analysis, cloud_upload: saved.cloud_upload,
      egress_acknowledged: consented(egressPurpose),
      vision_consent_current: consented(proofPurpose.screenshot),
    },
    controls: {
      fallbacks: saved.fallbacks, data_collection: saved.data_collection, zdr: saved.zdr,
    },
    budget: {
      period: 'rolling_day', budget_microusd: spend.budgetMicrousd,
      budget_requests: spend.budgetRequests,
      request_cost_bound_microusd: saved.request_cost_bound_microusd,
      since: spend.since, settled_microusd: spend.settledMicrousd,
      held_microusd: spend.heldMicrousd, requests: spend.requests,
      disputed_charges: spend.disputedCharges,
    },
    capability_proof: {
      state, reason, proof_id: proof?.proof_id ?? null, made_at: proof?.made_at ?? null,
      receipt: proof?.receipt ?? null,
    },
    paused: pausePart(ctx, view),
    remote_routing_safe: unsafe.length === 0,
    unsafe_reasons: unsafe,
  }
}
