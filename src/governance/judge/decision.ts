/**
 * Decisions: what was judged of one exact request before it goes out. A decision is minted here and
 * stored; at contact it is found by its operation and checked by digest, and everything is judged
 * once more, so that a forged row grants nothing.
 */
import { digestOf } from '../../base/canonical.js'
import { isoFromMs } from '../../base/clock.js'
import { newId } from '../../base/ids.js'
import type { Tx, View } from '../../state/types.js'
import { collections, type TrustDecision } from '../rows.js'
import { ofRequest, type Denial, type Fact } from './fact.js'

/** What is contacted, as far as a route row says it. */
interface Resource {
  readonly runtime: string
  readonly profile: string
  readonly provider: string
  readonly model?: string | undefined
  readonly url: string
}

/** The part of an operation's route row that is judged. */
export interface JudgedRoute extends Resource {
  readonly operation_id: string
  readonly decision_id: string | null
  readonly contacted_at: string | null
}

/** One request and what is stored about it. */
export interface DecisionCase {
  readonly view: View
  readonly operationId: string
  /** The exact request, content-safe. */
  readonly request: Readonly<Record<string, unknown>>
  /** What the route is fixed to. */
  readonly fixed: Resource
  /** The operation's route row; undefined before its decision. */
  readonly route: JudgedRoute | undefined
}

const sameAs = <Name extends keyof Resource>(name: Name) => ({
  name: `${name}_mismatch`, kind: 'blocked', phases: ofRequest,
  holds: ({ fixed, route }: DecisionCase) => route === undefined || route[name] === fixed[name],
} as const)

/** The route row is this operation's and says what the route is fixed to. */
export const routeRowFacts = [
  sameAs('runtime'), sameAs('profile'), sameAs('provider'), sameAs('model'), sameAs('url'),
  {
    name: 'route_mismatch', kind: 'blocked', phases: ofRequest,
    holds: ({ route, operationId }: DecisionCase) =>
      route === undefined || route.operation_id === operationId,
  },
  {
    name: 'already_contacted', kind: 'blocked', phases: ['preflight'],
    holds: ({ route }: DecisionCase) => (route?.contacted_at ?? null) === null,
  },
] as const satisfies readonly Fact<DecisionCase>[]

/** The decision that a route row names; undefined where it names none, or one that is not there. */
export const decisionOf = (
  view: View, route: Pick<JudgedRoute, 'decision_id'> | null | undefined,
): TrustDecision | undefined => {
  const id = route?.decision_id ?? null
  const found = id === null ? undefined : view.get(collections.decisions, id)
  return found?.decision_id === id ? found : undefined
}

/** An allowing decision of this operation that is its own digest's. */
const isSound = (decision: TrustDecision, { operationId }: DecisionCase): boolean =>
  decision.outcome === 'allow' && decision.reasons.length === 0
    && decision.operation_id === operationId
    && decision.request_digest === digestOf(decision.request)

const isGenuine = (decision: TrustDecision, one: DecisionCase): boolean =>
  isSound(decision, one) && decision.request_digest === digestOf(one.request)

/** The policy revision that a request names: an effect's with its authority, a call's beside. */
const revisionOf = (request: Readonly<Record<string, unknown>>): number => {
  const authority = request['authority'] ?? request
  const revision = (authority as Readonly<Record<string, unknown>>)['policy_revision']
  return typeof revision === 'number' ? revision : Number.NaN
}

/** A save in between is no forgery: it was decided at an earlier revision than today's. */
const isOvertaken = (decision: TrustDecision, one: DecisionCase): boolean =>
  isSound(decision, one) && revisionOf(decision.request) < revisionOf(one.request)

/** A stored, allowing decision of this very request exists. */
export const decisionFacts = [
  {
    name: 'decision_missing', kind: 'blocked', phases: ['contact'],
    holds: ({ view, route }) => decisionOf(view, route) !== undefined,
  },
  {
    name: 'policy_moved', kind: 'unauthorized', phases: ['contact'],
    holds: (one) => {
      const decision = decisionOf(one.view, one.route)
      return decision === undefined || !isOvertaken(decision, one)
    },
  },
  {
    name: 'decision_not_genuine', kind: 'blocked', phases: ['contact'],
    holds: (one) => {
      const decision = decisionOf(one.view, one.route)
      return decision === undefined || isGenuine(decision, one) || isOvertaken(decision, one)
    },
  },
] as const satisfies readonly Fact<DecisionCase>[]

/** Stores what was judged of a request; the caller refuses where there are denials. */
export const storeDecision = (tx: Tx, nowMs: number, of: {
  readonly operationId: string
  readonly request: Readonly<Record<string, unknown>>
  readonly denials: readonly Denial[]
}): TrustDecision => {
  const decision: TrustDecision = {
    decision_id: newId('dec'),
    operation_id: of.operationId,
    outcome: of.denials.length === 0 ? 'allow' : 'deny',
    reasons: of.denials.map(({ name }) => name),
    request: of.request,
    request_digest: digestOf(of.request),
    made_at: isoFromMs(nowMs),
  }
  tx.put(collections.decisions, decision.decision_id, decision)
  return decision
}
