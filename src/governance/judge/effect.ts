/**
 * One effect of a task: who asks, from which session, for which goal, by which consent, under which
 * lease. The request is a claim that is compared with the rows, never a permission. Every effect
 * has these facts, paid for or not; money and what a capability knows of itself come beside them.
 */
import { canonicalJson } from '../../base/canonical.js'
import { msFromIso } from '../../base/clock.js'
import { consentLapse, hasAcknowledged } from '../policy/consents.js'
import { collections, type Job, type Task } from '../rows.js'
import { acknowledgmentFacts, consentFacts } from './consent-facts.js'
import { decisionFacts, routeRowFacts, type DecisionCase, type JudgedRoute } from './decision.js'
import { ofRequest, underWay, within, type Fact, type Phase } from './fact.js'
import type { Moment } from './moment.js'
import { holdFacts, type HoldCase } from './money-facts.js'
import { personFacts, rootFacts } from './person-facts.js'
import { policyFacts, storeFacts } from './policy-facts.js'
import { parseTrustRequest, type FixedRoute, type TrustRequest } from './request.js'

/** The exact request of an effect, and the route row of its operation. */
export interface Claim {
  readonly request: TrustRequest
  readonly route: JudgedRoute | undefined
}

/** What an effect of a task is judged on. */
export interface EffectCase {
  readonly moment: Moment
  /** Undefined where there is no such task any more. */
  readonly task: Task | undefined
  readonly fixed: FixedRoute
  /** Null where no request is meant: before the preflight, and when a result is adopted. */
  readonly claim: Claim | null
}

/** A case with its request in the closed shape. Throws `rejected` `trust_request_malformed`. */
export const effectCase = (
  moment: Moment, fixed: FixedRoute, request: TrustRequest, route: JudgedRoute | undefined,
): EffectCase & { readonly claim: Claim } => {
  const parsed = parseTrustRequest(request)
  const task = moment.view.get(collections.openTasks, parsed.task_id)
    ?? moment.view.get(collections.closedTasks, parsed.task_id)
  return { moment, task, fixed, claim: { request: parsed, route } }
}

interface TaskCase extends EffectCase { readonly task: Task }
interface ClaimCase extends TaskCase { readonly request: TrustRequest }

const taskPart = (one: EffectCase): TaskCase | null =>
  (one.task === undefined ? null : { ...one, task: one.task })

const claimPart = (one: EffectCase): ClaimCase | null =>
  (one.task === undefined || one.claim === null
    ? null : { ...one, task: one.task, request: one.claim.request })

const goalOf = ({ moment, task }: TaskCase) => moment.view.get(collections.goals, task.goal_id)

const goalFacts = [
  {
    name: 'goal_changed', kind: 'unauthorized', phases: underWay,
    holds: (one) => goalOf(one)?.revision === one.task.goal_revision,
  },
  {
    name: 'goal_not_open', kind: 'unauthorized', phases: underWay,
    holds: (one) => goalOf(one)?.state === 'open',
  },
  {
    name: 'goal_foreign', kind: 'unauthorized', phases: ofRequest,
    holds: (one) => goalOf(one)?.owner === one.task.owner,
  },
] as const satisfies readonly Fact<TaskCase>[]

/** The session that asked is live and the goal is what it was. */
export const standingFacts = [
  ...within((one: EffectCase) => (one.task === undefined ? null : {
    moment: one.moment, principal: one.task.owner, root: one.task.original_root,
  }), rootFacts),
  ...within(taskPart, goalFacts),
] as const

const consentOf = ({ moment, task }: TaskCase) =>
  moment.view.get(collections.consents, task.purpose.consent_id)

/** How the task's own consent stands: what a task was admitted under is never exchanged. */
const lapseOf = (one: TaskCase) => {
  const { moment: { view, policy, nowMs }, task: { purpose: { revision } } } = one
  const consent = consentOf(one)
  const judged = consentLapse(view, policy, consent, nowMs)
  // When it ends is a fact of its own, beside the end of the task's purpose.
  const lapse = judged === 'expired' ? null : judged
  // Not before the grant, and not after today.
  const spans = consent !== undefined && consent.granted_revision <= revision
    && revision <= consent.bound_revision
  return (lapse === null || lapse === 'suspended') && !spans ? 'not_current' : lapse
}

const acknowledgedBy = (one: TaskCase): boolean | null =>
  (one.fixed.acknowledges === undefined
    ? null : hasAcknowledged(consentOf(one), one.task.owner, one.fixed.acknowledges))

/** When the purpose ends: what came back is the consent's alone, whichever session asked. */
const endsOf = (one: TaskCase, phase: Phase): readonly (string | null)[] => {
  const ends = consentOf(one)?.expires_at ?? null
  return phase === 'adopt' ? [ends] : [one.task.purpose.expires_at, ends]
}

const taskPurposeFacts = [
  {
    name: 'purpose_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: (one) => {
      const consent = consentOf(one)
      const { purpose, route } = one.fixed
      return one.task.purpose.purpose === purpose && consent?.purpose === purpose
        && consent.route === route
    },
  },
  ...within((one: TaskCase) => ({ lapse: lapseOf(one) }), consentFacts),
  ...within((one: TaskCase) => ({ acknowledged: acknowledgedBy(one) }), acknowledgmentFacts),
  {
    name: 'purpose_expired', kind: 'unauthorized', phases: underWay,
    holds: (one, phase) =>
      endsOf(one, phase).every((end) => end === null || msFromIso(end) > one.moment.nowMs),
  },
] as const satisfies readonly Fact<TaskCase>[]

/** The task's purpose rests on a consent that is current, and was given under this very grant. */
export const purposeFacts = within(taskPart, taskPurposeFacts)

const isOf = (
  job: Job | undefined, { job_id, task_id, operation_id }: TrustRequest,
): boolean => job?.job_id === job_id && job.task_id === task_id && job.operation_id === operation_id

const taskFacts = [
  {
    name: 'capability_mismatch', kind: 'blocked', phases: ofRequest,
    holds: ({ task, request, fixed }) =>
      task.kind === fixed.capability && request.capability === fixed.capability,
  },
  {
    name: 'task_binding_mismatch', kind: 'blocked', phases: ofRequest,
    holds: ({ task, request }) => task.task_id === request.task_id
      && task.job_id === request.job_id && task.operation_id === request.operation_id,
  },
  {
    name: 'job_binding_mismatch', kind: 'blocked', phases: ofRequest,
    holds: ({ moment, task, request }) =>
      isOf(moment.view.get(collections.jobs, task.job_id), request),
  },
  {
    name: 'task_not_running', kind: 'blocked', phases: ofRequest,
    holds: ({ task }) => task.state === 'running',
  },
  {
    name: 'cancel_requested', kind: 'blocked', phases: ofRequest,
    holds: ({ task }) => task.cancel_requested_at === null,
  },
  {
    name: 'deadline_passed', kind: 'blocked', phases: ofRequest,
    holds: ({ moment, task }) => msFromIso(task.deadline_at) > moment.nowMs,
  },
] as const satisfies readonly Fact<ClaimCase>[]

const askerFacts = [
  {
    name: 'principal_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: ({ task, request }) => request.principal === task.owner,
  },
  {
    name: 'provenance_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: ({ task, request: { provenance } }) =>
      canonicalJson(provenance) === canonicalJson(task.provenance)
        && provenance.principal === task.owner && provenance.root === task.original_root,
  },
  {
    name: 'root_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: ({ task, request }) => request.authority.root === task.original_root,
  },
  {
    // A recovered task is there to be read; it never contacts anyone again.
    name: 'root_recovered', kind: 'unauthorized', phases: ofRequest,
    holds: ({ task }) => task.current_root === task.original_root,
  },
] as const satisfies readonly Fact<ClaimCase>[]

const grantFacts = [
  {
    name: 'goal_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: ({ task, request: { authority } }) => authority.goal_id === task.goal_id
      && authority.goal_revision === task.goal_revision,
  },
  {
    name: 'consent_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: (one) => {
      const { task, request: { authority } } = one
      return authority.consent_id === task.purpose.consent_id
        && task.purpose.root === task.original_root
        && authority.consent_revision === consentOf(one)?.bound_revision
    },
  },
  {
    name: 'policy_revision_mismatch', kind: 'unauthorized', phases: ofRequest,
    holds: ({ moment, request }) =>
      request.authority.policy_revision === moment.policy.head.revision,
  },
] as const satisfies readonly Fact<ClaimCase>[]

const leaseFacts = [
  {
    name: 'lease_missing', kind: 'blocked', phases: ofRequest,
    holds: ({ task }) => task.lease !== null,
  },
  {
    name: 'lease_foreign', kind: 'blocked', phases: ofRequest,
    holds: ({ task: { lease }, request }) => lease === null
      || (lease.holder === request.lease.holder && lease.fence === request.lease.fence),
  },
  {
    name: 'lease_expired', kind: 'blocked', phases: ofRequest,
    holds: ({ moment, task: { lease } }) =>
      lease === null || msFromIso(lease.expires_at) > moment.nowMs,
  },
] as const satisfies readonly Fact<ClaimCase>[]

const resource = <Name extends keyof TrustRequest['resource']>(name: Name) => ({
  name: `${name}_mismatch`, kind: 'blocked', phases: ofRequest,
  holds: ({ request, fixed }: ClaimCase) => request.resource[name] === fixed[name],
} as const)

const resourceFacts = [
  resource('runtime'), resource('profile'), resource('provider'), resource('model'),
  resource('url'),
  {
    name: 'amount_mismatch', kind: 'blocked', phases: ofRequest,
    holds: ({ request, fixed }: ClaimCase) =>
      fixed.paid === (request.amount_microusd !== undefined),
  },
] as const

const decisionPart = ({ moment, fixed, claim }: EffectCase): DecisionCase | null =>
  (claim === null ? null : {
    view: moment.view, operationId: claim.request.operation_id, request: claim.request, fixed,
    route: claim.route,
  })

const holdPart = ({ moment, fixed, claim }: EffectCase): HoldCase | null => {
  const bound = claim?.request.amount_microusd
  if (claim === null || bound === undefined) return null
  const { operation_id, task_id, principal } = claim.request
  return {
    view: moment.view, operationId: operation_id, runtime: fixed.runtime, profile: fixed.profile,
    principal, taskId: task_id, boundMicrousd: bound,
  }
}

/** The exact request, against the task, its owner, its lease and its stored decision. */
export const claimFacts = [
  {
    name: 'task_missing', kind: 'blocked', phases: ofRequest,
    holds: ({ task }: EffectCase) => task !== undefined,
  },
  ...within(claimPart, taskFacts),
  ...within((one: EffectCase) => (one.task === undefined || one.claim === null ? null : {
    view: one.moment.view, principal: one.task.owner,
  }), personFacts),
  ...within(claimPart, askerFacts),
  ...within(claimPart, grantFacts),
  ...within(claimPart, leaseFacts),
  ...within(claimPart, resourceFacts),
  ...within(decisionPart, routeRowFacts),
  ...within(decisionPart, decisionFacts),
  // An effect that names no amount holds none.
  ...within(holdPart, holdFacts),
] as const

/** Everything that is generic, for a capability that knows nothing more of itself. */
export const effectFacts = [
  ...standingFacts,
  ...within(({ moment }: EffectCase) => moment.policy, [...storeFacts, ...policyFacts]),
  ...purposeFacts,
  ...claimFacts,
] as const
