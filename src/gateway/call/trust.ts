/**
 * The preflight of the route: whether one exact request may go out now. Like the trust of tasks,
 * the request is a claim that is compared with rows; a decision is minted here, stored, found again
 * by its operation and checked by digest at contact. There is no place in a request for a decision
 * id, an `allowed` flag, a report of a hook or a proof.
 */
import { canonicalJson, digestOf, sha256Hex } from '../../base/canonical.js'
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { requireAccount } from '../../governance/ledger/account.js'
import { requireBound } from '../../governance/ledger/post.js'
import { consumedOf, findReservation } from '../../governance/ledger/read.js'
import { policyStanding } from '../../governance/policy/standing.js'
import { collections, type TrustDecision } from '../../governance/rows.js'
import { parseGatewaySelector, requireGatewayCredential } from '../../governance/selectors.js'
import { liveRoot } from '../../governance/session/live.js'
import { presence } from '../../governance/vault.js'
import type { Tx, View } from '../../state/types.js'
import { gatewayConsents, type ConsentReader } from '../consents.js'
import { gatewayCapability, gatewayCredentialRef } from '../constants.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute } from '../setup.js'
import { bindingOfCall, completionUrl, type RunningCall } from './order.js'

/** The exact order as it is stored with its decision. */
export interface GatewayTrustRequest extends Record<string, unknown> {
  readonly consent_id: string | null
  readonly egress_consent_id: string | null
  readonly policy_revision: number
}

/** `preflight`: with the reserve. `contact`: at and around the mark. `adopt`: after the reply. */
export type GatewayPhase = 'preflight' | 'contact' | 'adopt'

type Reasons = readonly string[]
type Checks = readonly (readonly [boolean, string])[]

const failing = (checks: Checks): Reasons =>
  checks.filter(([holds]) => !holds).map(([, reason]) => reason)

const holds = (check: () => unknown): boolean => {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

interface Case {
  readonly call: RunningCall
  readonly view: View
  readonly route: GatewayRoute
  readonly consents: ConsentReader
  readonly policyRevision: number
  readonly block: string | null
}

const caseOf = (call: RunningCall, view: View): Case | null => {
  const { gov } = call.ctx
  const route = view.get(gatewayCollection, gatewayRouteId)
  if (route === undefined) return null
  const standing = policyStanding(gov.store, view)
  return {
    call, view, route, consents: gatewayConsents(gov, view, route, standing),
    policyRevision: standing.head.revision, block: standing.block,
  }
}

/** The request of a call, from what this process means to send and the rows of now. */
const requestOf = ({ call, consents, policyRevision }: Case): GatewayTrustRequest => ({
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
  consent_id: consents.purpose(call.order.purpose)?.consent_id ?? null,
  egress_consent_id: consents.egress()?.consent_id ?? null,
  policy_revision: policyRevision,
})

const routeReasons = ({ call, view, route }: Case): Reasons => {
  const { place } = call.ctx
  const now = route.slots[call.order.slot]
  const key = presence(view, gatewayCredentialRef)
  return failing([
    [route.enabled, 'route_disabled'],
    [route.grant_id === call.grantId, 'grant_mismatch'],
    [place.baseUrl === call.baseUrl && route.api_base === call.baseUrl, 'url_mismatch'],
    [now !== null, 'slot_not_set'],
    [now === null || canonicalJson(now) === canonicalJson(call.setup), 'slot_changed'],
    [holds(() => parseGatewaySelector(call.setup.model, place.reserved)), 'selector_refused'],
    [
      holds(() => requireGatewayCredential(route.credential_ref, place.reserved)),
      'credential_refused',
    ],
    [
      key.present && key.fingerprint === call.keyFingerprint
        && route.credential_fingerprint === call.keyFingerprint,
      'credential_mismatch',
    ],
  ])
}

const personReasons = ({ call, view }: Case): Reasons => {
  const { principal, root } = call.order
  const row = view.get(collections.principals, principal)
  const live = root === null
    || holds(() => {
      const found = liveRoot(view, call.ctx.gov, root)
      if (found.principal_id !== principal) throw fail.unauthorized('root_foreign', 'Foreign.')
    })
  return failing([
    [row !== undefined, 'principal_missing'],
    [row === undefined || row.disabled_at === null, 'principal_disabled'],
    [live, 'root_not_live'],
  ])
}

const policyReasons = ({ block }: Case): Reasons => (block === null ? [] : [block])

const consentReasons = ({ call, consents }: Case): Reasons => failing([
  [consents.egress() !== undefined, 'egress_not_acknowledged'],
  [consents.purpose(call.order.purpose) !== undefined, 'consent_not_current'],
])

const moneyReasons = ({ call, view, route }: Case, phase: GatewayPhase): Reasons => {
  if (phase === 'adopt') return []
  const bound = call.boundMicrousd
  if (!holds(() => requireAccount(view))) return ['ledger_not_ready']
  const account = requireAccount(view)
  const held = findReservation(view, call.operationId)
  const room = held !== undefined || consumedOf(account) + bound <= account.ceiling_microusd
  const states = phase === 'preflight' ? ['reserved'] : ['reserved', 'contacted']
  return failing([
    [account.ceiling_microusd === route.spend_ceiling_microusd, 'ceiling_mismatch'],
    [room, 'ceiling_exceeded'],
    [held !== undefined || phase === 'preflight', 'reservation_missing'],
    [
      held === undefined || (states.includes(held.state) && held.bound_microusd === bound
        && held.principal === call.order.principal),
      'reservation_mismatch',
    ],
    [
      held === undefined || holds(() => requireBound(view, bindingOfCall(call))),
      'reservation_binding_mismatch',
    ],
  ])
}

const reasonsOf = (one: Case, phase: GatewayPhase): Reasons => [
  ...policyReasons(one), ...routeReasons(one), ...consentReasons(one), ...personReasons(one),
  ...moneyReasons(one, phase),
]

const blocked: ReadonlySet<string> = new Set([
  'witness_mismatch', 'store_behind_anchor', 'url_mismatch', 'selector_refused',
  'credential_refused', 'credential_mismatch', 'ledger_not_ready', 'ceiling_mismatch',
  'reservation_missing', 'reservation_mismatch', 'reservation_binding_mismatch',
  'decision_missing', 'decision_not_genuine', 'already_contacted', 'slot_not_set',
])

const denied = (reasons: Reasons): SallyportError => {
  const [reason = 'trust_not_decided'] = reasons
  const make = blocked.has(reason) ? fail.blocked : fail.unauthorized
  return make('trust_denied', 'The trust evaluation does not allow this request.', {
    reason, next: 'Nothing was sent. See: sallyport gateway show',
    details: { reasons: reasons.join(',') },
  })
}

/** Evaluates and stores a decision with the route record of the call; throws on a denial. */
export const decideGatewayTrust = (tx: Tx, call: RunningCall): void => {
  const one = caseOf(call, tx)
  if (one === null) throw denied(['route_missing'])
  const seen = tx.get(collections.routes, call.operationId)
  const reasons = [
    ...(seen === undefined ? [] : ['already_contacted']), ...reasonsOf(one, 'preflight'),
  ]
  if (reasons.length > 0) throw denied(reasons)
  const request = requestOf(one)
  const decision: TrustDecision = {
    decision_id: newId('dec'),
    operation_id: call.operationId,
    outcome: 'allow',
    reasons: [],
    request,
    request_digest: digestOf(request),
    made_at: isoFromMs(call.ctx.gov.clock.wallMs()),
  }
  const { runtime, profile } = bindingOfCall(call)
  tx.put(collections.decisions, decision.decision_id, decision)
  tx.put(collections.routes, call.operationId, {
    operation_id: call.operationId, runtime, profile, provider: 'gateway',
    model: call.setup.model, url: completionUrl(call.baseUrl),
    decision_id: decision.decision_id, policy_revision: one.policyRevision,
    contacted_at: null, outcome: null,
  })
}

const storedReasons = (one: Case): Reasons => {
  const { call, view } = one
  const route = view.get(collections.routes, call.operationId)
  const decision = route && view.get(collections.decisions, route.decision_id)
  if (route === undefined || decision === undefined) return ['decision_missing']
  const digest = digestOf(requestOf(one))
  const { runtime, profile } = bindingOfCall(call)
  const genuine = decision.outcome === 'allow' && decision.reasons.length === 0
    && decision.operation_id === call.operationId && decision.request_digest === digest
    && digestOf(decision.request) === digest
    && route.runtime === runtime && route.profile === profile
    && route.model === call.setup.model && route.url === completionUrl(call.baseUrl)
  return genuine ? [] : ['decision_not_genuine']
}

/**
 * Refuses unless the stored decision of this very call stands and everything it rested on still
 * holds: in the record of the contact mark, and before the first byte. Answers the revision that
 * it was checked against. Throws `trust_denied`.
 */
export const requireGatewayTrust = (view: View, call: RunningCall): number => {
  const one = caseOf(call, view)
  if (one === null) throw denied(['route_missing'])
  const reasons = [...reasonsOf(one, 'contact'), ...storedReasons(one)]
  if (reasons.length > 0) throw denied(reasons)
  return one.policyRevision
}

/** Why what came back may not be used, or null while everything still stands. */
export const gatewayAuthorityLost = (view: View, call: RunningCall): string | null => {
  const one = caseOf(call, view)
  return one === null ? 'route_missing' : reasonsOf(one, 'adopt')[0] ?? null
}
