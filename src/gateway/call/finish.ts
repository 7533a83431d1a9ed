/**
 * The end of a call, in one record: the charge, the claim, the receipt and what the capability
 * keeps. What becomes of money and result is decided by one pure function first.
 */
import type { FinishReason } from '../../base/finish-reason.js'
import type { ErrorKind } from '../../base/errors.js'
import type { Closed, Closing, MoneyEnd, Outcome } from '../../contact/order.js'
import { receiptBase, transportClaims } from '../../contact/receipt.js'
import { appendAudit } from '../../governance/audit.js'
import { decisionOf } from '../../governance/judge/decision.js'
import type { Tx } from '../../state/types.js'
import { gatewaySchemas, gatewayUsageSource, profileOf, routingControls } from '../constants.js'
import type { CallOutcome, GatewayReceipt } from '../receipt.js'
import { claimCollection, requireOpenClaim, type CallClaim } from './claims.js'
import { closeCall } from './open-calls.js'
import { notePause } from './pause.js'
import {
  completionUrl, type AcceptedReply, type CallOrder, type Judged, type RunningCall, type Usable,
} from './order.js'
import type { ReplyCost, ReplyVerdict } from './reply.js'
import { addSpend, type SpendChange } from './spend.js'
import { noteEnd } from '../usage/usage-rows.js'
import { callAuthorityLost } from './authority.js'
import { resultNotStored } from './not-stored.js'

/** What came of the contact. */
export type Contact = Outcome<ReplyVerdict>

/** Everything that is known of a call before it is closed. */
export interface CallEvidence<Content> {
  readonly contact: Contact
  /** Status of the reply; null where none came. */
  readonly httpStatus: number | null
  /** What the capability makes of an accepted reply; null without one. */
  readonly judged: Judged<Content> | null
}

interface Ending {
  readonly outcome: CallOutcome
  readonly reason: string | null
  readonly ledger: 'release' | 'unknown' | 'settle'
  readonly cost: ReplyCost | null
  /** The reply, only when it may be used. */
  readonly reply: AcceptedReply | null
}

/** How a call ended, for its caller. */
export interface CallResult<Made = unknown> extends Ending {
  readonly receipt: GatewayReceipt
  readonly operationId: string
  /** Class of the failure that kept it from being sent; null otherwise. */
  readonly errorKind: ErrorKind | null
  readonly httpStatus: number | null
  /** What the closing record kept of it. */
  readonly made: Made | null
}

/** What the decision rests on. */
interface EndingFacts {
  readonly contact: Contact
  readonly boundMicrousd: number
  /** Why the result may not be used any more, or null. */
  readonly authorityLost: string | null
  /** Why the content is not what was asked for, or null. */
  readonly refused: string | null
}

/**
 * Decides the end. A charge that is known stands whatever becomes of the text; one that is not
 * leaves the full liability, also beside a good text; only proof that nothing was sent releases.
 */
export const decideEnding = (facts: EndingFacts): Ending => {
  const { contact } = facts
  const without = { cost: null, reply: null }
  if (contact.kind === 'unsent') {
    return { outcome: 'not_contacted', reason: contact.reason, ledger: 'release', ...without }
  }
  if (contact.kind === 'sent') {
    return { outcome: 'charge_unknown', reason: contact.reason, ledger: 'unknown', ...without }
  }
  const { cost, costReason, reply, reason } = contact.verdict
  if (cost === null) {
    return { outcome: 'charge_unknown', reason: costReason, ledger: 'unknown', ...without }
  }
  const settled = { ledger: 'settle', cost, reply: null } as const
  if (reply === null) return { outcome: 'reply_rejected', reason, ...settled }
  if (facts.refused !== null) {
    return { outcome: 'reply_rejected', reason: facts.refused, ...settled }
  }
  if (cost.microUsd > facts.boundMicrousd) {
    return { outcome: 'overrun', reason: 'overrun_review_required', ...settled }
  }
  if (facts.authorityLost !== null) {
    return { outcome: 'authority_lost', reason: facts.authorityLost, ...settled }
  }
  return { outcome: 'succeeded', reason: null, ...settled, reply }
}

/** The end as far as the evidence alone decides it. */
export const endingOf = <Content>(
  { boundMicrousd }: RunningCall, { contact, judged }: CallEvidence<Content>,
  authorityLost: string | null = null,
): Ending => decideEnding({
  contact, boundMicrousd, authorityLost, refused: judged?.refused ?? null,
})

/** The reply with its content, where the end lets it be used. */
export const usableOf = <Content>(
  { reply }: Ending, { judged }: CallEvidence<Content>,
): Usable<Content> | null =>
  reply === null || judged === null || judged.refused !== null
    ? null : { reply, content: judged.content }

/** What becomes of the money. */
export const moneyOfCall = <Content>(
  call: RunningCall, evidence: CallEvidence<Content>,
): MoneyEnd => {
  const { ledger, cost, reason } = endingOf(call, evidence)
  if (ledger === 'release') return { ledger }
  if (cost === null) return { ledger: 'unknown', reason: reason ?? 'charge_unknown' }
  return {
    ledger: 'settle',
    chargedMicrousd: cost.microUsd,
    evidence: {
      schema: gatewaySchemas.usageEvidence,
      source: gatewayUsageSource,
      operation_id: call.operationId,
      cost_usd: cost.lexeme,
      cost_microusd: cost.microUsd,
      response_sha256: cost.responseSha256,
    },
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

/** What a call is known to have cost, for readings of the key's usage; null where nobody knows. */
const toldBy = ({ ledger, cost }: Ending): number | null => {
  if (ledger === 'release') return 0
  return cost === null ? null : cost.microUsd
}

/** Told also where the reply is of no use: a text that was cut off is refused and paid for. */
const finishOf = (contact: Contact): { readonly finish_reason?: FinishReason } => {
  const finish = contact.kind === 'reply' ? contact.verdict.reply?.finish ?? null : null
  return finish === null ? {} : { finish_reason: finish }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const receiptOf = (
  call: RunningCall, tx: Tx, now: string, claim: CallClaim, ending: Ending, contact: Contact,
): GatewayReceipt => {
  const { route, reservation, lastRow, policy } = receiptBase(tx, call.operationId)
  const decision = decisionOf(tx, route)
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
    ...finishOf(contact),
    url: completionUrl(call.baseUrl),
    routing: {
      only: call.setup.upstream_allow, ...routingControls, asked_at: claim.contacted_at ?? now,
    },
    consent_id: textOrNull(decision?.request['consent_id']),
    egress_consent_id: textOrNull(decision?.request['egress_consent_id']),
    decision_id: decision?.decision_id ?? null,
    policy,
    cost: {
      source: ending.cost === null ? null : gatewayUsageSource,
      usd: ending.cost?.lexeme ?? null,
      amount_microusd: ending.cost?.microUsd ?? null,
      bound_microusd: call.boundMicrousd,
      state: reservation?.state ?? null,
      ledger_ref: lastRow?.row_id ?? null,
    },
    outcome: ending.outcome,
    reason: ending.reason,
    ...transportClaims,
    claimed_at: claim.claimed_at,
    contacted_at: claim.contacted_at,
    ended_at: now,
  }
}

/** What a reply says of the slot: nothing else than a reply does. */
const notePauseOf = (
  { order: { slot }, operationId }: RunningCall, tx: Tx, now: string, contact: Contact,
): void => {
  if (contact.kind !== 'reply') return
  const { refusal, reason } = contact.verdict
  notePause(tx, now, slot, refusal === null ? null : {
    ...refusal, operation_id: operationId, reason: reason ?? `http_status_${refusal.status}`,
  })
}

/** Ends the claim with its receipt and the capability's own rows; the money stands by then. */
export const closeOrder = <Claimed, Content, Made>(
  order: CallOrder<Claimed, Content, Made>, call: RunningCall, claimed: Claimed, tx: Tx,
  now: string, { evidence, sealed, refusal }: Closing<CallEvidence<Content>>,
): Closed<CallResult<Made>> => {
  // A charge that the rows contradict is left to recovery, with everything that rests on it.
  if (refusal !== null) throw refusal
  const { contact, httpStatus } = evidence
  const claim = requireOpenClaim(tx, call.inputDigest, call.operationId)
  const unstored = order.keep !== undefined && sealed === null ? resultNotStored : null
  const lost = callAuthorityLost(tx, call) ?? order.closed?.(tx, claimed) ?? unstored
  const ending = endingOf(call, evidence, lost)
  if (closeCall(tx, call.operationId)) {
    addSpend(tx, { purpose: order.purpose, at: claim.claimed_at }, spendChange(call, ending))
  }
  notePauseOf(call, tx, now, contact)
  noteEnd(tx, now, call.operationId, toldBy(ending))
  const receipt = receiptOf(call, tx, now, claim, ending, contact)
  const { outcome, reason, ledger } = ending
  tx.put(claimCollection, call.inputDigest, {
    ...claim, ended: { at: now, outcome, reason, receipt },
  })
  const errorKind = contact.kind === 'unsent' ? contact.errorKind : null
  const usable = usableOf(ending, evidence)
  const made = order.record(tx, now, {
    receipt, usable, sealed: usable === null ? null : sealed, errorKind,
  }, claimed)
  appendAudit(tx, now, {
    what: `gateway.${order.step}_ended`, principal: order.principal, root: order.root,
    subject: call.operationId,
    facts: { slot: order.slot, outcome, ledger, face: call.ctx.gov.face },
  })
  const kept = { ...ending, receipt, operationId: call.operationId, errorKind, httpStatus, made }
  return { kept, outcome, adopts: made !== null }
}
