/**
 * The end of a call, in one record: the charge, the claim, the receipt and what the capability
 * keeps. What becomes of money and result is decided by one pure function first.
 */
import { digestOf } from '../../base/canonical.js'
import { isoFromMs } from '../../base/clock.js'
import { SallyportError, type ErrorKind } from '../../base/errors.js'
import { appendAudit } from '../../governance/audit.js'
import { findReservation, rowsOf } from '../../governance/ledger/read.js'
import { markUnknown, release, settle } from '../../governance/ledger/steps.js'
import { persist, unrecorded } from '../../governance/persist.js'
import { policyAt, policyHead } from '../../governance/policy/head.js'
import { collections } from '../../governance/rows.js'
import type { Tx } from '../../state/types.js'
import { gatewaySchemas, gatewayUsageSource, profileOf, routingControls } from '../constants.js'
import type { CallOutcome, GatewayReceipt } from '../receipt.js'
import { claimCollection, requireOpenClaim, type CallClaim } from './claims.js'
import {
  bindingOfCall, callRemainingMs, completionUrl, type AcceptedReply, type RunningCall,
} from './order.js'
import type { ReplyCost, ReplyVerdict } from './reply.js'
import { closeCall } from './open-calls.js'
import { addSpend, type SpendChange } from './spend.js'
import { gatewayAuthorityLost } from './trust.js'

/** What came of the contact. */
export type Contact =
  | { readonly kind: 'not_contacted'; readonly reason: string; readonly errorKind: ErrorKind }
  | { readonly kind: 'no_reply'; readonly reason: string }
  | { readonly kind: 'reply'; readonly verdict: ReplyVerdict }

/** What becomes of a call. */
export interface Ending {
  readonly outcome: CallOutcome
  readonly reason: string | null
  readonly ledger: 'release' | 'unknown' | 'settle'
  readonly cost: ReplyCost | null
  /** The reply, only when it may be used. */
  readonly reply: AcceptedReply | null
}

/** How a call ended, for its caller. */
export interface CallResult extends Ending {
  readonly receipt: GatewayReceipt
  readonly operationId: string
  /** Class of the failure that kept it from being sent; null otherwise. */
  readonly errorKind: ErrorKind | null
}

/** What the decision rests on. */
export interface EndingFacts {
  readonly contact: Contact
  readonly boundMicrousd: number
  /** Why the result may not be used any more, or null. */
  readonly authorityLost: string | null
  /** Why the content is not what was asked for, or null. */
  reject(reply: AcceptedReply): string | null
}

/**
 * Decides the end. A charge that is known stands whatever becomes of the text; one that is not
 * leaves the full liability, also beside a good text; only proof that nothing was sent releases.
 */
export const decideEnding = (facts: EndingFacts): Ending => {
  const { contact } = facts
  const without = { cost: null, reply: null }
  if (contact.kind === 'not_contacted') {
    return { outcome: 'not_contacted', reason: contact.reason, ledger: 'release', ...without }
  }
  if (contact.kind === 'no_reply') {
    return { outcome: 'charge_unknown', reason: contact.reason, ledger: 'unknown', ...without }
  }
  const { cost, costReason, reply, reason } = contact.verdict
  if (cost === null) {
    return { outcome: 'charge_unknown', reason: costReason, ledger: 'unknown', ...without }
  }
  const settled = { ledger: 'settle', cost, reply: null } as const
  if (reply === null) return { outcome: 'reply_rejected', reason, ...settled }
  const refused = facts.reject(reply)
  if (refused !== null) return { outcome: 'reply_rejected', reason: refused, ...settled }
  if (cost.microUsd > facts.boundMicrousd) {
    return { outcome: 'overrun', reason: 'overrun_review_required', ...settled }
  }
  if (facts.authorityLost !== null) {
    return { outcome: 'authority_lost', reason: facts.authorityLost, ...settled }
  }
  return { outcome: 'succeeded', reason: null, ...settled, reply }
}

const moneyStep = (call: RunningCall, tx: Tx, now: string, ending: Ending): void => {
  const reservation = findReservation(tx, call.operationId)
  if (reservation === undefined) return
  const binding = bindingOfCall(call)
  const { cost } = ending
  if (ending.ledger === 'release') {
    release(tx, now, { ...binding, proof: 'no_request_byte_sent' })
  } else if (cost === null) {
    markUnknown(tx, now, { ...binding, reason: ending.reason ?? 'charge_unknown' })
  } else {
    settle(tx, now, {
      ...binding,
      chargedMicrousd: cost.microUsd,
      evidence: {
        schema: gatewaySchemas.usageEvidence,
        source: gatewayUsageSource,
        operation_id: call.operationId,
        cost_usd: cost.lexeme,
        cost_microusd: cost.microUsd,
        response_sha256: cost.responseSha256,
      },
    })
  }
}

const costPart = (call: RunningCall, tx: Tx, ending: Ending): GatewayReceipt['cost'] => {
  const reservation = findReservation(tx, call.operationId)
  const rows = reservation === undefined ? [] : rowsOf(tx, reservation)
  return {
    source: ending.cost === null ? null : gatewayUsageSource,
    usd: ending.cost?.lexeme ?? null,
    amount_microusd: ending.cost?.microUsd ?? null,
    bound_microusd: call.boundMicrousd,
    state: reservation?.state ?? null,
    ledger_ref: rows.at(-1)?.row_id ?? null,
  }
}

/** What a finished call changes in the sums of its hour; an unknown charge stays held. */
const spendChange = (call: RunningCall, { ledger, cost }: Ending): SpendChange => {
  if (ledger === 'unknown') return {}
  const heldMicrousd = -call.boundMicrousd
  return ledger === 'release'
    ? { requests: -1, heldMicrousd }
    : { heldMicrousd, settledMicrousd: cost?.microUsd ?? 0 }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const receiptOf = (
  call: RunningCall, tx: Tx, now: string, claim: CallClaim, ending: Ending,
): GatewayReceipt => {
  const route = tx.get(collections.routes, call.operationId)
  const decision = route && tx.get(collections.decisions, route.decision_id)
  const policy = (route && policyAt(tx, route.policy_revision)) ?? policyHead(tx)
  return {
    schema: gatewaySchemas.receipt,
    operation_id: call.operationId,
    input_digest: call.inputDigest,
    slot: call.order.slot,
    profile: profileOf(call.order.slot),
    purpose: call.order.purpose,
    grant_id: call.grantId,
    model: call.setup.model,
    reply_model: ending.reply?.model ?? null,
    reply_provider: ending.reply?.provider ?? null,
    url: completionUrl(call.baseUrl),
    routing: {
      only: call.setup.upstream_allow, ...routingControls, asked_at: claim.contacted_at ?? now,
    },
    consent_id: textOrNull(decision?.request['consent_id']),
    egress_consent_id: textOrNull(decision?.request['egress_consent_id']),
    decision_id: decision?.decision_id ?? null,
    policy: { revision: policy.revision, sha256: digestOf(policy) },
    cost: costPart(call, tx, ending),
    outcome: ending.outcome,
    reason: ending.reason,
    tls_transport: true,
    tee_verified: false,
    e2ee: false,
    claimed_at: claim.claimed_at,
    contacted_at: claim.contacted_at,
    ended_at: now,
  }
}

const commitEnd = (call: RunningCall, tx: Tx, contact: Contact): CallResult => {
  const { order } = call
  const now = isoFromMs(call.ctx.gov.clock.wallMs())
  const claim = requireOpenClaim(tx, call.inputDigest, call.operationId)
  const ending = decideEnding({
    contact,
    boundMicrousd: call.boundMicrousd,
    authorityLost: gatewayAuthorityLost(tx, call),
    reject: (reply) => order.reject(reply),
  })
  moneyStep(call, tx, now, ending)
  addSpend(tx, { purpose: order.purpose, at: claim.claimed_at }, spendChange(call, ending))
  closeCall(tx, call.operationId)
  const receipt = receiptOf(call, tx, now, claim, ending)
  const { outcome, reason } = ending
  tx.put(claimCollection, call.inputDigest, {
    ...claim, ended: { at: now, outcome, reason, receipt },
  })
  const route = tx.get(collections.routes, call.operationId)
  if (route !== undefined) tx.put(collections.routes, call.operationId, { ...route, outcome })
  const errorKind = contact.kind === 'not_contacted' ? contact.errorKind : null
  order.record(tx, now, { receipt, reply: ending.reply, errorKind })
  appendAudit(tx, now, {
    what: `gateway.${order.step}_ended`, principal: order.principal, root: order.root,
    subject: call.operationId, facts: {
      slot: order.slot, outcome, ledger: ending.ledger, face: call.ctx.gov.face,
    },
  })
  return { ...ending, receipt, operationId: call.operationId, errorKind }
}

/** Before contact a failure is told as it is; after it, as what it means for the money. */
const recordEnd = async (call: RunningCall, contact: Contact): Promise<CallResult> => {
  const contacted = contact.kind !== 'not_contacted'
  const leftMs = (): number => (contacted ? callRemainingMs(call) : 0)
  try {
    return await persist(call.ctx.gov, `gateway ${call.order.step}`, leftMs, (tx) =>
      commitEnd(call, tx, contact))
  } catch (error) {
    if (!contacted || !(error instanceof SallyportError)) throw error
    throw unrecorded(error, call.operationId, { slot: call.order.slot })
  }
}

/** Makes the end durable. */
export const finishCall = async (call: RunningCall, contact: Contact): Promise<CallResult> => {
  const { gov } = call.ctx
  await gov.observer.at(`${call.order.step}.charge_known`)
  const result = await recordEnd(call, contact)
  await gov.observer.at(`${call.order.step}.finished`)
  return result
}
