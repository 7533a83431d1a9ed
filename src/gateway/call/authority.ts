/**
 * Whether one exact call may be decided, sent, or its result used, judged anew from the rows of one
 * moment each time. The request is a claim that is compared with rows; there is no place in it for
 * a decision id, an `allowed` flag, a report or a proof.
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { routeOf, type RouteDraft } from '../../contact/routes.js'
import { storeDecision, type JudgedRoute } from '../../governance/judge/decision.js'
import { denied, judge, toldName, type Denial } from '../../governance/judge/fact.js'
import { momentOf, type Moment } from '../../governance/judge/moment.js'
import { adoptionOf } from '../../governance/judge/policy-facts.js'
import type { FreshView, Tx } from '../../state/types.js'
import { egressPurpose, gatewayCapability } from '../constants.js'
import {
  consentTo, gatewayFactsAt, gatewayRoute, gatewayToldAs, type CallCase, type GatewayFacts,
} from '../readiness.js'
import { bindingOfCall, completionUrl, type RunningCall } from './order.js'

/** The exact order as it is stored with its decision. */
interface CallRequest extends Record<string, unknown> {
  readonly consent_id: string | null
  readonly egress_consent_id: string | null
  readonly policy_revision: number
}

/** The request of a call, from what this process means to send and the rows of now. */
const requestOf = (call: RunningCall, facts: GatewayFacts): CallRequest => ({
  capability: gatewayCapability,
  ...bindingOfCall(call),
  purpose: call.order.purpose,
  principal: call.order.principal,
  root: call.order.root,
  face: call.ctx.gov.face,
  grant_id: call.grantId,
  url: completionUrl(call.baseUrl),
  setup_sha256: sha256Hex(canonicalJson(call.setup)),
  key_fingerprint: call.keyFingerprint,
  input_digest: call.inputDigest,
  amount_microusd: call.boundMicrousd,
  consent_id: consentTo(facts, call.order.purpose)?.consent_id ?? null,
  egress_consent_id: consentTo(facts, egressPurpose)?.consent_id ?? null,
  policy_revision: facts.policy.revision,
})

interface Judged {
  readonly moment: Moment
  readonly request: CallRequest
  readonly denials: readonly Denial[]
}

const judgeCall = (
  call: RunningCall, view: FreshView, route: JudgedRoute | undefined,
  phase: 'preflight' | 'contact' | 'adopt',
): Judged => {
  const { ctx: { gov, place }, order: { slot, purpose, principal, root } } = call
  const moment = momentOf(gov, view)
  const facts = gatewayFactsAt(moment, place)
  const request = requestOf(call, facts)
  const { operationId, grantId, baseUrl, keyFingerprint, setup, boundMicrousd } = call
  const judged: CallCase = {
    moment, reserved: place.reserved, operationId, principal, root, grantId, baseUrl,
    url: completionUrl(baseUrl), keyFingerprint, setup, boundMicrousd, request, route,
    requestMs: call.requestMs,
  }
  const denials = judge(gatewayRoute, { facts, use: { slot, purpose }, call: judged }, phase)
  return { moment, request, denials }
}

const allowed = (judged: Judged): Judged => {
  if (judged.denials.length === 0) return judged
  throw denied(judged.denials, {
    code: 'trust_denied', toldAs: gatewayToldAs,
    message: 'What this call rests on does not stand any more.',
    next: 'Nothing was sent. See `sallyport gateway show`.',
  })
}

/** Decides a call and stores the decision; throws on a denial. */
export const decideCall = (
  tx: Tx, call: RunningCall,
): Pick<RouteDraft, 'decision_id' | 'policy_revision'> => {
  const { operationId } = call
  const seen = routeOf(tx, operationId)
  const { moment, request } = allowed(judgeCall(call, tx, seen, 'preflight'))
  const decision = storeDecision(tx, moment.nowMs, { operationId, request, denials: [] })
  return { decision_id: decision.decision_id, policy_revision: moment.policy.head.revision }
}

/**
 * Refuses unless the stored decision of this very call stands and everything it rested on still
 * holds: in the record of the contact mark, and before the first byte. Answers the revision that
 * it was checked against. Throws `trust_denied`.
 */
export const requireCall = (view: FreshView, call: RunningCall): number => {
  const route = routeOf(view, call.operationId)
  return allowed(judgeCall(call, view, route, 'contact')).moment.policy.head.revision
}

/**
 * Why what came back may never be used, or null. A save that has not ended takes no consent away,
 * and nobody waits here who could accept a result later: it is used, as it was before that save.
 */
export const callAuthorityLost = (view: FreshView, call: RunningCall): string | null => {
  const { lost } = adoptionOf(
    judgeCall(call, view, routeOf(view, call.operationId), 'adopt').denials,
  )
  return lost === null ? null : toldName(lost, gatewayToldAs)
}
