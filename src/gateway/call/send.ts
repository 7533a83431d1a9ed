/**
 * One paid call through a slot, as an order of contact: claimed under the digest of its input,
 * one request, one closing record.
 */
import { msFromIso } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Order, RunParts, Send, Step } from '../../contact/order.js'
import { giversOf } from '../../governance/policy/consents.js'
import { liveRoot } from '../../governance/session/live.js'
import type { Tx, View } from '../../state/types.js'
import {
  egressPurpose, gatewayChargeSources, gatewayCredentialRef, gatewayLimits, gatewayRuntime,
  profileOf, slotOfPurpose,
} from '../constants.js'
import type { GatewayContext } from '../context.js'
import { gatewayCollection, gatewayRouteId } from '../setup.js'
import { claimCollection, putClaim, requireOpenClaim } from './claims.js'
import {
  closeOrder, endingOf, moneyOfCall, usableOf, type CallEvidence, type CallResult,
} from './finish.js'
import { completionUrl, type CallOrder, type RunningCall } from './order.js'
import { openCall } from './open-calls.js'
import { judgeGatewayReply, type ReplyVerdict } from './reply.js'
import { addSpend } from './spend.js'
import { completionRequestBytes, gatewayHeaders } from './request.js'
import { decideCall, requireCall } from './authority.js'
import { noteContact } from '../usage/usage-rows.js'

const notSetUp = (): SallyportError =>
  fail.unauthorized('gateway_not_set_up', 'This slot of the gateway is not set up.', {
    reason: 'slot_not_set',
    next: 'Run `sallyport gateway setup --slot S --model M --upstream-allow SLUG`.',
  })

/** What a claim of the engine holds: the call, and what the capability's own claim read. */
interface Held<Claimed> {
  readonly call: RunningCall
  readonly claimed: Claimed
}

const claimCall = <Claimed, Content, Made>(
  ctx: GatewayContext, order: CallOrder<Claimed, Content, Made>, tx: Tx, now: string,
  operationId: string,
): Held<Claimed> => {
  if (order.root !== null) liveRoot(tx, ctx.gov, order.root)
  const route = tx.get(gatewayCollection, gatewayRouteId)
  const setup = route?.slots[order.slot]
  if (route === undefined || setup === undefined || setup === null) throw notSetUp()
  if (slotOfPurpose[order.purpose] !== order.slot) throw new TypeError('the slot has the purpose')
  const { inputDigest, claimed } = order.claim(tx, now, setup, operationId)
  const boundMicrousd = Math.min(
    order.boundMicrousd ?? setup.request_cost_bound_microusd, setup.request_cost_bound_microusd,
  )
  const { purpose } = order
  ctx.requireBudget?.(tx, { purpose, boundMicrousd, nowMs: msFromIso(now) })
  addSpend(tx, { purpose, at: now }, { requests: 1, heldMicrousd: boundMicrousd })
  openCall(tx, operationId, { purpose, claimed_at: now, bound_microusd: boundMicrousd })
  putClaim(tx, {
    input_digest: inputDigest, slot: order.slot, purpose: order.purpose,
    operation_id: operationId, grant_id: route.grant_id, principal: order.principal,
    root: order.root, claimed_at: now,
  })
  const call: RunningCall = {
    ctx, order, operationId, inputDigest, grantId: route.grant_id, setup, boundMicrousd,
    requestMs: order.timeoutMs ?? setup.timeout_seconds * 1_000,
    keyFingerprint: route.credential_fingerprint ?? '', baseUrl: route.api_base,
  }
  return { call, claimed }
}

/** The claim is open, and the capability's own gates are. */
const requireOpen = <Claimed, Content, Made>(
  order: CallOrder<Claimed, Content, Made>, view: View, { call, claimed }: Held<Claimed>,
): void => {
  requireOpenClaim(view, call.inputDigest, call.operationId)
  order.recheck?.(view, claimed)
}

const stepOf = <Claimed, Content, Made>(
  order: CallOrder<Claimed, Content, Made>,
  { claimed: { call }, key, terms }: RunParts<Held<Claimed>>,
): Step<ReplyVerdict> => ({
  authority: 'full',
  request: () => ({
    method: 'POST',
    url: completionUrl(call.baseUrl),
    headers: gatewayHeaders(key.toString('latin1')),
    body: completionRequestBytes(call.ctx.place, call.setup, order.content),
    requestBytesMax: gatewayLimits.requestBytesMax,
    replyBytesMax: gatewayLimits.replyBytesMax,
  }),
  timeoutMs: (remainingMs) => {
    const leftMs = Math.min(remainingMs, terms.requestMs)
    return leftMs < gatewayLimits.requestMsMin ? null : leftMs
  },
  judge: judgeGatewayReply,
  judgesHead: () => true,
})

const runCall = async <Claimed, Content, Made>(
  order: CallOrder<Claimed, Content, Made>, send: Send, parts: RunParts<Held<Claimed>>,
): Promise<CallEvidence<Content>> => {
  const contact = await send(stepOf(order, parts))
  const reply = contact.kind === 'reply' ? contact.verdict.reply : null
  return {
    contact,
    httpStatus: contact.kind === 'reply' ? contact.status : null,
    judged: reply === null ? null : order.judge(reply, parts.claimed.claimed),
  }
}

type CallAsOrder<Claimed, Content, Made> =
  Order<Held<Claimed>, CallEvidence<Content>, CallResult<Made>>

/**
 * What of a reply is sealed before the record that may name it. What cannot be written is lost; the
 * charge that the reply told is settled all the same.
 */
const keepOf = <Claimed, Content, Made>(
  { keep }: CallOrder<Claimed, Content, Made>,
): Pick<CallAsOrder<Claimed, Content, Made>, 'keep'> => (keep === undefined ? {} : {
  keep: (evidence, { claimed: { call, claimed } }) => {
    const usable = usableOf(endingOf(call, evidence), evidence)
    try {
      return usable === null ? null : keep(usable, claimed)
    } catch {
      return null
    }
  },
})

const orderOf = <Claimed, Content, Made>(
  ctx: GatewayContext, order: CallOrder<Claimed, Content, Made>,
): CallAsOrder<Claimed, Content, Made> => ({
  step: order.step,
  verb: `gateway ${order.step}`,
  noun: 'call',
  operationMsMax: gatewayLimits.operationMsMax,
  lane: order.priority,
  runtime: gatewayRuntime,
  profile: profileOf(order.slot),
  sources: gatewayChargeSources,
  credential: gatewayCredentialRef,
  claim: (tx, now, { operationId }) => ({
    kind: 'claimed', claimed: claimCall(ctx, order, tx, now, operationId),
  }),
  prepare: (tx, _now, { claimed }) => {
    requireOpen(order, tx, claimed)
    const { boundMicrousd, requestMs } = claimed.call
    return {
      hold: { taskId: null, principal: order.principal, boundMicrousd, subject: order.subject },
      requestMs,
    }
  },
  decide: (tx, _now, { claimed: { call } }) => ({
    provider: 'gateway', model: call.setup.model, url: completionUrl(call.baseUrl),
    ...decideCall(tx, call),
  }),
  authority: (view, _boundary, { claimed }) => {
    requireOpen(order, view, claimed)
    return requireCall(view, claimed.call)
  },
  mark: (tx, now, { claimed: { call: { inputDigest, operationId, boundMicrousd } } }) => {
    const claim = requireOpenClaim(tx, inputDigest, operationId)
    tx.put(claimCollection, inputDigest, { ...claim, contacted_at: now })
    noteContact(tx, operationId, boundMicrousd)
  },
  party: (_run, view) => ({
    principal: order.principal, root: order.root,
    givers: giversOf(view, [egressPurpose, order.purpose]),
    provider: gatewayRuntime, slot: order.slot, ...order.sends,
  }),
  run: (send, parts) => runCall(order, send, parts),
  unsent: (contact) => ({ contact, httpStatus: null, judged: null }),
  money: (evidence, { claimed: { call } }) => moneyOfCall(call, evidence),
  ...keepOf(order),
  close: (tx, now, { claimed: { call, claimed } }, facts) =>
    closeOrder(order, call, claimed, tx, now, facts),
  details: () => ({ slot: order.slot }),
})

/**
 * Makes one paid call, or answers why nothing was sent. Throws only where no claim was made
 * (`rejected` `debug_output_refused`, `unauthorized`, `conflict` `call_repeated`, what the order's
 * own `claim` throws), where its end could not be recorded, and for defects; every other end is a
 * result with its receipt.
 */
export const sendCall = <Claimed, Content, Made>(
  ctx: GatewayContext, order: CallOrder<Claimed, Content, Made>,
): Promise<CallResult<Made>> => runOrder(ctx, orderOf(ctx, order))
