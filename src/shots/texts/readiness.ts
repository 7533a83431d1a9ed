/**
 * Whether a text may be bought from the `report` slot now, for digests and conclusions. What leaves
 * the machine is text that a model wrote about somebody's screen, so every gate of the source holds
 * here too, and each blocks alone.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { gatewayConsents } from '../../gateway/consents.js'
import { gatewayFacts } from '../../gateway/facts.js'
import { gatewayReasonOf, gatewayReasons } from '../../gateway/projection.js'
import type { GatewayProof } from '../../gateway/proof.js'
import type { SlotSetup } from '../../gateway/setup.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { gateTextOf, settingReasonOf } from '../gates.js'
import { savedSettings, type SavedShotSettings } from '../settings.js'

/** The two purposes of the `report` slot. */
export type TextPurpose = 'gateway.digest' | 'gateway.report'

/** What a call rests on. */
export interface TextRoute {
  /** Who consented to the purpose. */
  readonly principal: string
  readonly setup: SlotSetup
  /** What the reply must call itself. */
  readonly proof: GatewayProof
}

const blocked = (reason: string, next: string): SallyportError =>
  fail.blocked('text_route_not_ready', 'No text may be bought now.', { reason, next })

const requireOpenSettings = (saved: SavedShotSettings): void => {
  const closed = settingReasonOf(saved)
  if (closed !== null) throw blocked(closed, gateTextOf(closed)?.next ?? '')
}

const requireBound = (saved: SavedShotSettings, setup: SlotSetup, ceiling: number): void => {
  const bound = setup.request_cost_bound_microusd
  if (bound > ceiling) {
    throw blocked('request_bound_above_ceiling', gatewayReasons.request_bound_above_ceiling.text)
  }
  const limit = saved.request_cost_bound_microusd
  if (limit !== null && bound > limit) {
    throw blocked('request_bound_above_limit', gateTextOf('request_bound_above_limit')?.next ?? '')
  }
}

/** The route of a purpose. Throws `blocked` `text_route_not_ready` with the first reason. */
export const requireTextRoute = (
  ctx: ShotsContext, view: View, purpose: TextPurpose,
): TextRoute => {
  const { gov, gateway } = ctx
  const saved = savedSettings(view)
  requireOpenSettings(saved)
  const facts = gatewayFacts(gov, view, gateway.place)
  const { route } = facts
  if (route === null) throw blocked('slot_not_set', gatewayReasons.slot_not_set.text)
  const reason = gatewayReasonOf(facts, route)
  if (reason !== null) throw blocked(reason, gatewayReasons[reason].text)
  const setup = route.slots.report
  if (setup === null) throw blocked('slot_not_set', gatewayReasons.slot_not_set.text)
  const consent = gatewayConsents(gov, view, route).purpose(purpose)
  if (consent === undefined) {
    throw blocked('consent_not_current', `Consent to ${purpose}: sallyport gateway setup`)
  }
  requireBound(saved, setup, route.spend_ceiling_microusd)
  const { state, proof } = facts.proofs.report
  if (state !== 'current') {
    throw blocked(`proof_${state}`, 'Run: sallyport gateway prove report --if-stale')
  }
  return { principal: consent.principal, setup, proof }
}
