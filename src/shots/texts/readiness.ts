/**
 * Whether a text may be bought from the `report` slot now, for digests and conclusions. What leaves
 * the machine is text that a model wrote about somebody's screen, so every gate of the source holds
 * here too, and each blocks alone.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import type { GatewayProof } from '../../gateway/proof.js'
import {
  consentTo, gatewayFacts, gatewayReasonOf, gatewayReasons, type GatewayReasonCode,
} from '../../gateway/readiness.js'
import type { SlotSetup } from '../../gateway/setup.js'
import { giverReasonOf } from '../../governance/policy/consents.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { gateTextOf, imageBound, settingReasonOf } from '../gates.js'
import { savedSettings, type SavedShotSettings } from '../source/settings.js'

/** The two purposes of the `report` slot. */
export type TextPurpose = 'gateway.digest' | 'gateway.report'

/** What a call rests on. */
export interface TextRoute {
  /** Who consented to the purpose. */
  readonly principal: string
  /** The consent that was given. */
  readonly consentId: string
  readonly setup: SlotSetup
  /** What the reply must call itself. */
  readonly proof: GatewayProof
  /** Held for one call, micro-USD: the source's own bound, never above the slot's. */
  readonly boundMicrousd: number
}

const proveNext = 'Run: sallyport gateway prove report --if-stale'

/** What a person may do about a reason why no text was bought; never empty. */
export const textReasonNext = (reason: string): string => {
  if (reason === 'proof_missing' || reason === 'proof_stale') return proveNext
  if (Object.hasOwn(gatewayReasons, reason)) return gatewayReasons[reason as GatewayReasonCode].text
  return gateTextOf(reason)?.next ?? 'See: sallyport shots status'
}

const blocked = (reason: string, next = textReasonNext(reason)): SallyportError =>
  fail.blocked('text_route_not_ready', 'No text may be bought now.', { reason, next })

const requireOpenSettings = (saved: SavedShotSettings): void => {
  const closed = settingReasonOf(saved)
  if (closed !== null) throw blocked(closed)
}

const requireBound = (saved: SavedShotSettings, setup: SlotSetup, ceiling: number): number => {
  const bound = imageBound(saved, setup)
  if (bound > ceiling) throw blocked('request_bound_above_ceiling')
  return bound
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
  if (route === null) throw blocked('slot_not_set')
  const reason = gatewayReasonOf(facts, route)
  if (reason !== null) throw blocked(reason)
  const setup = route.slots.report
  if (setup === null) throw blocked('slot_not_set')
  const consent = consentTo(facts, purpose)
  if (consent === undefined) {
    throw blocked(
      'consent_not_current',
      `Run: sallyport gateway setup --consent ${purpose} --acknowledge-cloud-egress`,
    )
  }
  // A digest is paid for by whoever consented to it; a conclusion by whoever asks for it.
  const giver = purpose === 'gateway.digest' ? giverReasonOf(view, consent) : null
  if (giver !== null) throw blocked(giver)
  const boundMicrousd = requireBound(saved, setup, route.spend_ceiling_microusd)
  const { state, proof } = facts.proofs.report
  if (state !== 'current') throw blocked(`proof_${state}`)
  return {
    principal: consent.principal, consentId: consent.consent_id, setup, proof, boundMicrousd,
  }
}

/**
 * The same rule while a text waits and up to its first byte: every gate is open, and the consent is
 * the one that the text was admitted under. Throws as `requireTextRoute` does.
 */
export const requireSameRoute = (
  ctx: ShotsContext, view: View, purpose: TextPurpose, admitted: TextRoute,
): void => {
  const now = requireTextRoute(ctx, view, purpose)
  if (now.consentId !== admitted.consentId) throw blocked('consent_not_current')
}
