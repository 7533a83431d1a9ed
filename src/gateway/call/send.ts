/**
 * One paid call through a slot: claim, lane, decision and hold, contact mark, one request, one
 * closing record. The claim is durable before anything else and the mark before anything is
 * dialled; nothing that may have been sent is tried again, by anybody.
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail, SallyportError, type ErrorKind } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { holdGuard } from '../../governance/guard.js'
import { acquireLane, type Lane } from '../../governance/lane.js'
import { markContacted, recheckRow, reserve } from '../../governance/ledger/steps.js'
import { collections } from '../../governance/rows.js'
import { liveRoot } from '../../governance/session/live.js'
import { openCredential } from '../../governance/vault.js'
import { contactOf } from '../../net/contact-error.js'
import type { Tx, View } from '../../state/types.js'
import { gatewayCredentialRef, gatewayLimits, slotOfPurpose } from '../constants.js'
import type { GatewayContext } from '../context.js'
import { gatewayCollection, gatewayRouteId } from '../setup.js'
import { claimCollection, putClaim, requireOpenClaim } from './claims.js'
import { finishCall, type CallResult, type Contact } from './finish.js'
import {
  bindingOfCall, callRemainingMs, completionUrl, type CallOrder, type RunningCall,
} from './order.js'
import { openCall } from './open-calls.js'
import { judgeGatewayReply } from './reply.js'
import { addSpend } from './spend.js'
import { completionRequestBytes, gatewayHeaders } from './request.js'
import { decideGatewayTrust, requireGatewayTrust } from './trust.js'

const announce = (call: RunningCall, step: string): void | Promise<void> =>
  call.ctx.gov.observer.at(`${call.order.step}.${step}`)

const notSetUp = (): SallyportError =>
  fail.unauthorized('gateway_not_set_up', 'This slot of the gateway is not set up.', {
    reason: 'slot_not_set', next: 'Run: sallyport gateway setup',
  })

const claimRow = (
  ctx: GatewayContext, order: CallOrder, tx: Tx, operationId: string,
): RunningCall => {
  const { gov } = ctx
  const now = isoFromMs(gov.clock.wallMs())
  if (order.root !== null) liveRoot(tx, gov, order.root)
  const route = tx.get(gatewayCollection, gatewayRouteId)
  const setup = route?.slots[order.slot]
  if (route === undefined || setup === undefined || setup === null) throw notSetUp()
  if (slotOfPurpose[order.purpose] !== order.slot) throw new TypeError('the slot has the purpose')
  const inputDigest = order.claim(tx, now, setup, operationId)
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
  return {
    ctx, order, operationId, inputDigest, grantId: route.grant_id, setup, boundMicrousd,
    keyFingerprint: route.credential_fingerprint ?? '', baseUrl: route.api_base,
    endsAtMs: gov.clock.monotonicMs() + gatewayLimits.operationMsMax,
  }
}

const checkGoing = (call: RunningCall): void => {
  if (call.ctx.signal.aborted) {
    throw fail.cancelled('call_cancelled', 'The request was cancelled before contact.')
  }
  if (callRemainingMs(call) > 0) return
  throw fail.locked('deadline_passed', 'The deadline of 120 seconds passed before contact.', {
    reason: 'deadline_passed', next: 'Nothing was sent.',
  })
}

const requireAuthority = (call: RunningCall, view: View): number => {
  checkGoing(call)
  requireOpenClaim(view, call.inputDigest, call.operationId)
  call.order.recheck?.(view)
  return requireGatewayTrust(view, call)
}

/** The decision and the hold are one record: nothing is held without the decision for it. */
const prepare = (call: RunningCall): Promise<void> =>
  call.ctx.gov.store.transact(`gateway ${call.order.step}`, (tx) => {
    const now = isoFromMs(call.ctx.gov.clock.wallMs())
    checkGoing(call)
    requireOpenClaim(tx, call.inputDigest, call.operationId)
    call.order.recheck?.(tx)
    reserve(tx, now, {
      ...bindingOfCall(call), taskId: null, principal: call.order.principal,
      bound: call.boundMicrousd,
    })
    decideGatewayTrust(tx, call)
  })

/** The last decision and the mark are one record: a revoke comes before it or after it. */
const markContact = (call: RunningCall): Promise<void> =>
  call.ctx.gov.store.transact(`gateway ${call.order.step}`, (tx) => {
    const now = isoFromMs(call.ctx.gov.clock.wallMs())
    const policyRevision = requireAuthority(call, tx)
    recheckRow(tx, now, { ...bindingOfCall(call), policyRevision })
    markContacted(tx, now, bindingOfCall(call))
    const claim = requireOpenClaim(tx, call.inputDigest, call.operationId)
    tx.put(claimCollection, call.inputDigest, { ...claim, contacted_at: now })
    const route = tx.get(collections.routes, call.operationId)
    if (route === undefined) throw new TypeError('a prepared call has a route record')
    tx.put(collections.routes, call.operationId, { ...route, contacted_at: now })
    tx.mark()
  })

const failureOf = (error: unknown): { reason: string; errorKind: ErrorKind } =>
  error instanceof SallyportError
    ? { reason: error.reason ?? error.code, errorKind: error.kind }
    : { reason: 'unexpected', errorKind: 'failed' }

/** Why nothing was sent, from the error that stopped a step before contact; a defect goes on up. */
const notContacted = (error: unknown): Contact => {
  if (!(error instanceof SallyportError)) throw error
  return { kind: 'not_contacted', ...failureOf(error) }
}

/** The client and the exact bytes, made before there is anything that could be contacted. */
const equip = async ({ ctx, setup, order }: RunningCall) => {
  const body = completionRequestBytes(ctx.place, setup, order.content)
  return { body, client: await ctx.client() }
}

/** Sends the request once, or proves that it was not sent. */
const contact = async (call: RunningCall, lane: Lane, key: Buffer): Promise<Contact> => {
  const { ctx, setup } = call
  const leftMs = Math.min(
    callRemainingMs(call), lane.holdUntilMs - ctx.gov.clock.monotonicMs(),
    call.order.timeoutMs ?? setup.timeout_seconds * 1_000,
  )
  if (leftMs < gatewayLimits.requestMsMin) {
    return { kind: 'not_contacted', reason: 'deadline_passed', errorKind: 'locked' }
  }
  let equipment: Awaited<ReturnType<typeof equip>>
  try {
    equipment = await equip(call)
  } catch (error) {
    return { kind: 'not_contacted', ...failureOf(error) }
  }
  try {
    const { body, client } = equipment
    const reply = await client.request({
      method: 'POST',
      url: completionUrl(call.baseUrl),
      headers: gatewayHeaders(key.toString('latin1')),
      body,
      requestBytesMax: gatewayLimits.requestBytesMax,
      replyBytesMax: gatewayLimits.replyBytesMax,
      timeoutMs: leftMs,
      authority: async (point) => {
        await announce(call, point)
        requireAuthority(call, ctx.gov.store.read())
      },
      markContact: async () => {
        await announce(call, 'contact_begin')
        await markContact(call)
        await announce(call, 'contact_intent')
      },
    })
    await announce(call, 'replied')
    return { kind: 'reply', verdict: judgeGatewayReply(reply) }
  } catch (error) {
    const failure = failureOf(error)
    return contactOf(error) === 'none'
      ? { kind: 'not_contacted', ...failure } : { kind: 'no_reply', reason: failure.reason }
  }
}

/** Under the lane. The captured key outlives a revoke or a rotation: the charge is settled. */
const runUnderLane = async (call: RunningCall, lane: Lane): Promise<CallResult> => {
  let key: Buffer
  try {
    await announce(call, 'slot')
    await prepare(call)
    key = openCredential(call.ctx.gov, gatewayCredentialRef)
  } catch (error) {
    return finishCall(call, notContacted(error))
  }
  try {
    await announce(call, 'reserved')
    return await finishCall(call, await contact(call, lane, key))
  } finally {
    key.fill(0)
  }
}

const run = async (call: RunningCall): Promise<CallResult> => {
  const { gov, signal } = call.ctx
  let lane: Lane
  try {
    lane = await acquireLane({
      dir: gov.store.dir, priority: call.order.priority, deadlineMs: call.endsAtMs,
      clock: gov.clock, signal, observer: gov.observer,
    })
  } catch (error) {
    const stopped = signal.aborted
      ? fail.cancelled('call_cancelled', 'The request was cancelled before contact.') : error
    return finishCall(call, notContacted(stopped))
  }
  try {
    return await runUnderLane(call, lane)
  } finally {
    lane.release()
  }
}

/**
 * Makes one paid call, or answers why nothing was sent. Throws only where no claim was made
 * (`rejected` `debug_output_refused`, `unauthorized`, `conflict` `call_repeated`, what the order's
 * own `claim` throws); every end after that is a result with its receipt.
 */
export const sendCall = async (ctx: GatewayContext, order: CallOrder): Promise<CallResult> => {
  if (ctx.signal.aborted) throw fail.cancelled('call_cancelled', 'The request was cancelled.')
  // What forbids every contact refuses here: no claim, no hold and no attempt is left by it.
  await ctx.client()
  const operationId = newId('op')
  // Held before the claim exists, so that recovery never takes a live call for a dead one.
  const guard = holdGuard(ctx.gov.store.dir, operationId)
  try {
    const call = await ctx.gov.store.transact(`gateway ${order.step}`, (tx) =>
      claimRow(ctx, order, tx, operationId))
    await announce(call, 'claimed')
    return await run(call)
  } finally {
    guard.release()
  }
}
