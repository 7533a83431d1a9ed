/**
 * Trust: whether one exact request may contact one exact resource now. Every fact is read again
 * from canonical rows; what the request says is a claim to be compared, never a permission. A
 * decision is minted here and stored; at contact it is found by its operation, checked by digest,
 * and everything is evaluated once more, so that a forged row grants nothing.
 */
import { digestOf } from '../base/canonical.js'
import { isoFromMs } from '../base/clock.js'
import { fail, type SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import type { Tx, View } from '../state/types.js'
import type { Gov } from './context.js'
import { policyStanding } from './policy/standing.js'
import { collections, type TrustDecision } from './rows.js'
import { liveRoot } from './session/live.js'
import { denyReasons } from './trust-checks.js'
import {
  parseTrustRequest, type FixedRoute, type TrustFacts, type TrustRequest,
} from './trust-shapes.js'

export type { FixedRoute, TrustFacts, TrustRequest } from './trust-shapes.js'

/** The facts of this moment: live roots, and the policy with its witness and anchor. */
export const trustFacts = (gov: Gov, view: View, fixed: FixedRoute): TrustFacts => {
  const standing = policyStanding(gov.store, view)
  return {
    fixed,
    liveRoot: (rootId) => liveRoot(view, gov, rootId),
    policy: {
      active: standing.head.state === 'active',
      witnessed: standing.witness === 'ok' && standing.block !== 'store_behind_anchor',
      revision: standing.head.revision,
    },
    nowMs: gov.clock.wallMs(),
  }
}

/**
 * Evaluates a request before its reserve or between reserve and contact. Answers a decision with
 * all reasons; writes nothing. Throws `rejected` `trust_request_malformed` for another shape.
 */
export const evaluateTrust = (
  view: View, request: TrustRequest, facts: TrustFacts,
): TrustDecision => {
  const parsed = parseTrustRequest(request)
  const reasons = denyReasons({ view, request: parsed, facts, phase: 'preflight' })
  return {
    decision_id: newId('dec'),
    operation_id: parsed.operation_id,
    outcome: reasons.length === 0 ? 'allow' : 'deny',
    reasons: [...reasons],
    request: parsed,
    request_digest: digestOf(parsed),
    made_at: isoFromMs(facts.nowMs),
  }
}

/**
 * Evaluates and stores: the decision always, and for an allowed one the route record that names it
 * for the operation. The caller still has to look at `outcome`, or to call `refuseDenied`.
 */
export const decideTrust = (tx: Tx, request: TrustRequest, facts: TrustFacts): TrustDecision => {
  const decision = evaluateTrust(tx, request, facts)
  tx.put(collections.decisions, decision.decision_id, decision)
  if (decision.outcome === 'allow') {
    tx.put(collections.routes, decision.operation_id, {
      operation_id: decision.operation_id,
      ...request.resource,
      decision_id: decision.decision_id,
      policy_revision: request.authority.policy_revision,
      contacted_at: null,
      outcome: null,
    })
  }
  return decision
}

/** Reasons that the operator's own session or consent gives; every other one blocks. */
const authorityReasons: ReadonlySet<string> = new Set([
  'principal_mismatch', 'principal_missing', 'principal_disabled', 'provenance_mismatch',
  'root_mismatch', 'root_recovered', 'root_foreign', 'root_not_live',
  'goal_mismatch', 'goal_foreign', 'goal_not_open', 'goal_changed',
  'purpose_mismatch', 'consent_mismatch', 'consent_not_current', 'purpose_expired',
  'policy_not_active', 'policy_revision_mismatch',
])

const denied = (reasons: readonly string[]): SallyportError => {
  const [reason = 'trust_not_decided'] = reasons
  const parts = {
    reason,
    next: 'Nothing was sent. See: sallyport policy show',
    details: { reasons: reasons.join(',') },
  }
  const message = 'The trust evaluation does not allow this request.'
  return authorityReasons.has(reason)
    ? fail.unauthorized('trust_denied', message, parts)
    : fail.blocked('trust_denied', message, parts)
}

/** Throws `trust_denied` (`unauthorized` or `blocked`, by its first reason) for a denial. */
export const refuseDenied = (decision: TrustDecision): void => {
  if (decision.outcome !== 'allow') throw denied(decision.reasons)
}

const storedReasons = (
  view: View, operationId: string, request: TrustRequest,
): readonly string[] => {
  const route = view.get(collections.routes, operationId)
  const decision = route && view.get(collections.decisions, route.decision_id)
  if (!decision || decision.decision_id !== route.decision_id) return ['decision_missing']
  const digest = digestOf(request)
  const genuine = decision.outcome === 'allow'
    && decision.reasons.length === 0
    && decision.operation_id === operationId
    && request.operation_id === operationId
    && decision.request_digest === digest
    && digestOf(decision.request) === digest
  return genuine ? [] : ['decision_not_genuine']
}

/**
 * Refuses unless a stored, allowing decision of this very request exists and everything it rested
 * on still holds: call it in the transaction of the contact mark, and again before the first byte.
 * The reservation must be held by then. Throws `trust_denied`.
 */
export const requireAllowed = (
  view: View, operationId: string, request: TrustRequest, facts: TrustFacts,
): TrustDecision => {
  const parsed = parseTrustRequest(request)
  const reasons = [
    ...storedReasons(view, operationId, parsed),
    ...denyReasons({ view, request: parsed, facts, phase: 'contact' }),
  ]
  const route = view.get(collections.routes, operationId)
  const decision = route && view.get(collections.decisions, route.decision_id)
  if (reasons.length > 0 || !decision) throw denied(reasons)
  return decision
}
