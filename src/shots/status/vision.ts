/** How the remote vision profile stands, from what is stored; nothing is probed (S-123 to S-125). */
import { egressPurpose, proofPurpose } from '../../gateway/constants.js'
import { gatewayFacts, type GatewayFacts } from '../../gateway/facts.js'
import { gatewayReasonOf, gatewayReasons } from '../../gateway/projection.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { standingOf } from '../gates.js'
import { savedSettings } from '../settings.js'
import type { VisionStatusPart } from './shape.js'

/** The part where nothing can be told; nothing unknown is ever safe. */
export const unknownVision = (reason: string): VisionStatusPart => ({
  gateway_state: 'unknown', gateway_reason: reason, selected_model: null, upstream_allow: [],
  cloud_consent: {
    analysis: null, cloud_upload: null, egress_acknowledged: false, vision_consent_current: false,
  },
  controls: { fallbacks: null, data_collection: null, zdr: null },
  budget: {
    period: 'rolling_day', budget_microusd: null, budget_requests: null,
    request_cost_bound_microusd: null,
  },
  capability_proof: {
    state: 'unknown', reason: null, proof_id: null, made_at: null, receipt: null,
  },
  remote_routing_safe: false,
  unsafe_reasons: [reason],
})

/** Every gate there is: those of a scan, and the proof that only analysis asks for. */
const unsafeReasons = (ctx: ShotsContext, view: View): string[] => {
  const { reasons, proof } = standingOf(ctx, view)
  return [...reasons, ...(proof === 'current' ? [] : [`proof_${proof}`])]
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

/** The remote vision profile. */
export const visionPart = (ctx: ShotsContext, view: View): VisionStatusPart => {
  const facts = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  const saved = savedSettings(view)
  const slot = facts.route?.slots.screenshot ?? null
  const { state, reason, proof } = facts.proofs.screenshot
  const consented = (purpose: string): boolean =>
    facts.consents.some((one) => one.purpose === purpose && one.current)
  const unsafe = unsafeReasons(ctx, view)
  return {
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
      period: 'rolling_day', budget_microusd: saved.budget_microusd,
      budget_requests: saved.budget_requests,
      request_cost_bound_microusd: saved.request_cost_bound_microusd,
    },
    capability_proof: {
      state, reason, proof_id: proof?.proof_id ?? null, made_at: proof?.made_at ?? null,
      receipt: proof?.receipt ?? null,
    },
    remote_routing_safe: unsafe.length === 0,
    unsafe_reasons: unsafe,
  }
}
