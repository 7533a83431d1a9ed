/**
 * Whether a text may be bought from the `report` slot now, for digests and conclusions. What leaves
 * the machine is text that a model wrote about somebody's screen, so every gate of the source holds
 * here too, and each blocks alone.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import {
  boundFacts, buyingToldAs, consentFacts, proofFacts, routeFacts, slotOf, type BuyingCase,
} from '../../gateway/buying.js'
import type { GatewayProof } from '../../gateway/proof.js'
import {
  consentTo, gatewayFacts, gatewayReasons, type GatewayReasonCode,
} from '../../gateway/readiness.js'
import type { SlotSetup } from '../../gateway/setup.js'
import { judge, toldName } from '../../governance/judge/fact.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { isRoomReason, roomNext } from '../disputed.js'
import { budgetFacts, gateTextOf, imageBound, settingFacts } from '../gates.js'
import { savedSettings, type SavedShotSettings } from '../source/settings.js'

/** The two purposes of the `report` slot. */
type TextPurpose = 'gateway.digest' | 'gateway.report'

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

const slotNext = 'Run `sallyport gateway setup --slot report --model M --upstream-allow SLUG'
  + ' --consent gateway.digest`.'
const proveNext = 'Run `sallyport gateway prove report --if-stale`.'

/**
 * What a person may do about a reason why no text was bought; never empty. `disputed`: operations
 * whose charges leave no room.
 */
export const textReasonNext = (reason: string, disputed: readonly string[] = []): string => {
  if (isRoomReason(reason)) return roomNext(reason, disputed)
  if (reason === 'slot_not_set') return slotNext
  if (reason === 'proof_missing' || reason === 'proof_stale') return proveNext
  if (Object.hasOwn(gatewayReasons, reason)) return gatewayReasons[reason as GatewayReasonCode].text
  return gateTextOf(reason)?.next ?? 'See `sallyport shots status`.'
}

const consentNext = (purpose: TextPurpose): string =>
  `Run \`sallyport gateway setup --consent ${purpose}\`.`

const blocked = (reason: string, next = textReasonNext(reason)): SallyportError =>
  fail.blocked('text_route_not_ready', 'No text may be bought now.', { reason, next })

interface TextCase extends BuyingCase {
  readonly saved: SavedShotSettings
}

/** Everything that buying a text rests on, most telling first. */
const textRoute = [
  ...settingFacts,
  ...routeFacts,
  {
    name: 'slot_not_set', kind: 'blocked', phases: ['status', 'admit'],
    holds: (one: TextCase) => slotOf(one) !== null,
  },
  ...consentFacts, ...boundFacts, ...budgetFacts, ...proofFacts,
] as const

const caseOf = (ctx: ShotsContext, view: View, purpose: TextPurpose): TextCase => {
  const saved = savedSettings(view)
  return {
    saved, gateway: gatewayFacts(ctx.gov, view, ctx.gateway.place),
    use: { slot: 'report', purpose }, reserved: ctx.gateway.place.reserved,
    bound: (slot) => imageBound(saved, slot),
  }
}

/** Whether every gate of a purpose but the proof is open: only then is a proof worth its price. */
export const isTextRouteOpen = (
  ctx: ShotsContext, view: View, purpose: TextPurpose,
): boolean => judge(textRoute, caseOf(ctx, view, purpose), 'status').length === 0

/** Why no digest may be written, the proof apart, and what opens that; null where one may be. */
export const closedDigests = (
  ctx: ShotsContext, view: View,
): { readonly reason: string, readonly text: string, readonly next: string } | null => {
  const [first] = judge(textRoute, caseOf(ctx, view, 'gateway.digest'), 'status')
  if (first === undefined) return null
  const reason = toldName(first, buyingToldAs)
  return {
    reason, text: gateTextOf(reason)?.text ?? reason,
    next: reason === 'consent_not_current' ? consentNext('gateway.digest') : textReasonNext(reason),
  }
}

/** The route of a purpose. Throws `blocked` `text_route_not_ready` with the first reason. */
export const requireTextRoute = (
  ctx: ShotsContext, view: View, purpose: TextPurpose,
): TextRoute => {
  const one = caseOf(ctx, view, purpose)
  const { saved, gateway } = one
  const consent = consentTo(gateway, purpose)
  const [first] = judge(textRoute, one, 'admit')
  const setup = slotOf(one)
  const { proof } = gateway.proofs.report
  if (first === undefined && setup !== null && consent !== undefined && proof !== null) {
    const { principal, consent_id: consentId } = consent
    return { principal, consentId, setup, proof, boundMicrousd: imageBound(saved, setup) }
  }
  const reason = first === undefined ? 'slot_not_set' : toldName(first, buyingToldAs)
  throw reason === 'consent_not_current' ? blocked(reason, consentNext(purpose)) : blocked(reason)
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
