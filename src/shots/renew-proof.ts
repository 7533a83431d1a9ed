/**
 * Renewing a proof before it grows stale: only where `renew_proof` was set on, only when something
 * waits to be sent and nothing but the proof keeps it here, and only a proof whose age alone is
 * what is wrong with it. A first proof, and one after a changed model, key or host, stay a
 * person's. It is one paid request like any other: the consent's giver pays, the day's budget holds
 * for it, and the receipt tells it.
 */
import { SallyportError } from '../base/errors.js'
import { msFromIso } from '../base/clock.js'
import { pauseOf } from '../gateway/call/pause.js'
import { gatewayLimits, type GatewayPurpose, type SlotName } from '../gateway/constants.js'
import type { ProofState } from '../gateway/proof.js'
import { renewProof } from '../gateway/prove.js'
import { consentTo, gatewayFacts, proofPurposeNow } from '../gateway/readiness.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'
import { routeStatusOf } from './gates.js'
import { dueFactsOf, notRecorded } from './money.js'
import type { ProofRenewal } from './receipts/renewal.js'
import { renewsProof, savedSettings } from './source/settings.js'
import { isTextRouteOpen } from './texts/readiness.js'

/** Whether the age of a proof is what asks for a new one, `nowMs` being wall time. Pure. */
export const isRenewalDue = ({ state, reason, proof }: ProofState, nowMs: number): boolean => {
  if (state === 'missing') return false
  if (state === 'stale') return reason === 'older_than_24_hours'
  return nowMs - msFromIso(proof.made_at) >= gatewayLimits.proofRenewMs
}

/** Slots whose proofs jobs renew. */
type RenewedSlot = Extract<SlotName, 'screenshot' | 'report'>

/** Whether a current proof would let go what the slot's job sends: a budget that is set, too. */
const opens: Readonly<Record<RenewedSlot, (ctx: ShotsContext, view: View) => boolean>> = {
  screenshot: (ctx, view) => routeStatusOf(ctx, view).ready,
  report: (ctx, view) => isTextRouteOpen(ctx, view, 'gateway.digest'),
}

const due = (ctx: ShotsContext, view: View, slot: RenewedSlot): boolean => {
  const nowMs = ctx.gov.clock.wallMs()
  if (!renewsProof(savedSettings(view)) || pauseOf(view, slot, nowMs) !== null) return false
  const { proofs } = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  return isRenewalDue(proofs[slot], nowMs) && opens[slot](ctx, view)
}

const ending = (
  slot: RenewedSlot, outcome: ProofRenewal['outcome'], reason: string | null,
): ProofRenewal => ({
  slot, outcome, reason, operation_id: null, cost_microusd: null, due: null, held_microusd: null,
})

/** Failures that are no matter of the proof: they end the pass. */
const isPassing = (error: SallyportError): boolean =>
  error.kind === 'cancelled' || error.kind === 'damaged' || error.kind === 'locked'

const renew = async (
  ctx: ShotsContext, slot: RenewedSlot, purpose: GatewayPurpose, principal: string,
): Promise<ProofRenewal> => {
  const result = await renewProof(ctx.gateway, {
    slot, purpose, principal, onlyIf: (view) => due(ctx, view, slot),
  })
  const { outcome, reason, operationId, made, receipt } = result
  const ended = made !== null ? 'renewed' : outcome === 'not_contacted' ? 'not_sent' : 'failed'
  return {
    ...ending(slot, ended, made === null ? reason ?? outcome : null),
    operation_id: operationId, cost_microusd: receipt.cost.amount_microusd,
    ...dueFactsOf(ctx.gov.store.read(), operationId),
  }
}

/** It was sent, whatever kept its end from being recorded, and its bound stays held. */
const unrecorded = (
  ctx: ShotsContext, slot: RenewedSlot, { details }: SallyportError,
): ProofRenewal => {
  const { operation_id: id } = details
  const operationId = typeof id === 'string' ? id : null
  return {
    ...ending(slot, 'failed', notRecorded), operation_id: operationId,
    ...dueFactsOf(ctx.gov.store.read(), operationId),
  }
}

/**
 * Renews the proof of a slot where it is due; null where it is not, or nobody's consent carries it.
 * What keeps it from being made is told and changes nothing: while the old one is current images
 * go on, and after that they are blocked (S-152, S-153). Only a gateway that refuses is left alone
 * for a while, as after any other refusal.
 */
export const renewProofIfDue = async (
  ctx: ShotsContext, slot: RenewedSlot,
): Promise<ProofRenewal | null> => {
  const view = ctx.gov.store.read()
  if (!due(ctx, view, slot)) return null
  const facts = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  const purpose = proofPurposeNow(facts, slot)
  const consent = consentTo(facts, purpose)
  if (consent === undefined) return null
  try {
    return await renew(ctx, slot, purpose, consent.principal)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    if (error.reason === notRecorded) return unrecorded(ctx, slot, error)
    if (isPassing(error)) throw error
    if (error.code === 'proof_not_due') return null
    return ending(slot, 'not_sent', error.reason ?? error.code)
  }
}
