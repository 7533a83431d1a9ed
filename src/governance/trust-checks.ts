/**
 * The checks behind a trust decision. Each takes the request as a claim and the rows as the truth,
 * and answers with reasons to deny; an empty answer of all of them is what allows. Pure.
 */
import { canonicalJson } from '../base/canonical.js'
import { msFromIso } from '../base/clock.js'
import { SallyportError } from '../base/errors.js'
import type { View } from '../state/types.js'
import { requireAccount } from './ledger/account.js'
import { requireBound } from './ledger/post.js'
import { consumedOf, findReservation } from './ledger/read.js'
import { policyHead } from './policy/head.js'
import { collections, type Reservation, type Task } from './rows.js'
import type { TrustFacts, TrustRequest } from './trust-shapes.js'

/** `preflight`: before the reserve, nothing sent. `contact`: at and around the contact mark. */
export type TrustPhase = 'preflight' | 'contact'

/** One evaluation's inputs. */
export interface TrustCase {
  readonly view: View
  readonly request: TrustRequest
  readonly facts: TrustFacts
  readonly phase: TrustPhase
}

type Reasons = readonly string[]

/** Pairs of (holds, reason): the reasons of those that do not hold. */
const failing = (checks: readonly (readonly [boolean, string])[]): Reasons =>
  checks.filter(([holds]) => !holds).map(([, reason]) => reason)

const findTask = (view: View, id: string): Task | undefined =>
  view.get(collections.openTasks, id) ?? view.get(collections.closedTasks, id)

/** Answers like `read`, or undefined when it refuses. A defect is not a refusal. */
const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof SallyportError) return undefined
    throw error
  }
}

const taskReasons = ({ view, request, facts }: TrustCase, task: Task): Reasons => {
  const job = view.get(collections.jobs, task.job_id)
  const { capability } = facts.fixed
  return failing([
    [task.kind === capability && request.capability === capability, 'capability_mismatch'],
    [
      task.task_id === request.task_id && task.job_id === request.job_id
        && task.operation_id === request.operation_id,
      'task_binding_mismatch',
    ],
    [
      job !== undefined && job.job_id === request.job_id && job.task_id === request.task_id
        && job.operation_id === request.operation_id,
      'job_binding_mismatch',
    ],
    [task.state === 'running', 'task_not_running'],
    [task.cancel_requested_at === null, 'cancel_requested'],
    [msFromIso(task.deadline_at) > facts.nowMs, 'deadline_passed'],
  ])
}

const principalReasons = ({ view, request }: TrustCase, task: Task): Reasons => {
  const principal = view.get(collections.principals, task.owner)
  const { provenance } = request
  return failing([
    [request.principal === task.owner, 'principal_mismatch'],
    [principal !== undefined && principal.principal_id === task.owner, 'principal_missing'],
    [principal === undefined || principal.disabled_at === null, 'principal_disabled'],
    [
      canonicalJson(provenance) === canonicalJson(task.provenance)
        && provenance.principal === task.owner && provenance.root === task.original_root,
      'provenance_mismatch',
    ],
  ])
}

const rootReasons = ({ view, request, facts }: TrustCase, task: Task): Reasons => {
  const row = view.get(collections.roots, task.original_root)
  const live = orUndefined(() => facts.liveRoot(task.original_root))
  return failing([
    [request.authority.root === task.original_root, 'root_mismatch'],
    // A recovered task is there to be read; it never contacts anyone again.
    [task.current_root === task.original_root, 'root_recovered'],
    [row !== undefined && row.principal_id === task.owner, 'root_foreign'],
    [
      live !== undefined && live.root_id === task.original_root && row?.ended === null
        && msFromIso(row.expires_at) > facts.nowMs,
      'root_not_live',
    ],
  ])
}

const goalReasons = ({ view, request }: TrustCase, task: Task): Reasons => {
  const goal = view.get(collections.goals, task.goal_id)
  const { authority } = request
  return failing([
    [
      authority.goal_id === task.goal_id && authority.goal_revision === task.goal_revision,
      'goal_mismatch',
    ],
    [goal !== undefined && goal.owner === task.owner, 'goal_foreign'],
    [goal?.state === 'open', 'goal_not_open'],
    [goal?.revision === task.goal_revision, 'goal_changed'],
  ])
}

const consentReasons = ({ view, request, facts }: TrustCase, task: Task): Reasons => {
  const { authority } = request
  const { purpose } = task
  const consent = view.get(collections.consents, purpose.consent_id)
  const fence = orUndefined(() => policyHead(view))?.fence
  const current = consent !== undefined && consent.state === 'granted'
    && fence !== undefined && consent.granted_revision > fence
    && consent.bound_revision === facts.policy.revision
    // The purpose was given under this very grant: not before it, and not after today.
    && consent.granted_revision <= purpose.revision && purpose.revision <= consent.bound_revision
  const ends = [purpose.expires_at, ...(consent?.expires_at ? [consent.expires_at] : [])]
  return failing([
    [
      purpose.purpose === facts.fixed.purpose && consent?.purpose === facts.fixed.purpose
        && consent.route === facts.fixed.route,
      'purpose_mismatch',
    ],
    [
      authority.consent_id === purpose.consent_id && purpose.root === task.original_root
        && authority.consent_revision === consent?.bound_revision,
      'consent_mismatch',
    ],
    [current, 'consent_not_current'],
    [ends.every((end) => msFromIso(end) > facts.nowMs), 'purpose_expired'],
  ])
}

const policyReasons = ({ view, request, facts }: TrustCase): Reasons => {
  const head = orUndefined(() => policyHead(view))
  return failing([
    [facts.policy.active && head?.state === 'active', 'policy_not_active'],
    [facts.policy.witnessed, 'policy_not_witnessed'],
    [
      head !== undefined && head.revision === facts.policy.revision
        && request.authority.policy_revision === head.revision,
      'policy_revision_mismatch',
    ],
  ])
}

const leaseReasons = ({ request, facts }: TrustCase, task: Task): Reasons => {
  const { lease } = task
  if (lease === null) return ['lease_missing']
  return failing([
    [
      lease.holder === request.lease.holder && lease.fence === request.lease.fence,
      'lease_foreign',
    ],
    [msFromIso(lease.expires_at) > facts.nowMs, 'lease_expired'],
  ])
}

const resourceNames = ['runtime', 'profile', 'provider', 'model', 'url'] as const

const resourceReasons = ({ view, request, facts, phase }: TrustCase): Reasons => {
  const { fixed } = facts
  const route = view.get(collections.routes, request.operation_id)
  const wrong = resourceNames.filter((name) => {
    const stored = route === undefined || route[name] === fixed[name]
    return request.resource[name] !== fixed[name] || !stored
  })
  const contacted = route !== undefined && route.contacted_at !== null
  return [
    ...wrong.map((name) => `${name}_mismatch`),
    ...(route !== undefined && route.operation_id !== request.operation_id
      ? ['route_mismatch'] : []),
    ...(phase === 'preflight' && contacted ? ['already_contacted'] : []),
  ]
}

const holdStates: Readonly<Record<TrustPhase, readonly Reservation['state'][]>> = {
  preflight: ['reserved'],
  contact: ['reserved', 'contacted'],
}

const heldReasons = ({ view, request, facts, phase }: TrustCase, held: Reservation): Reasons => {
  const { runtime, profile } = facts.fixed
  const binding = { operationId: request.operation_id, runtime, profile }
  const bound = orUndefined(() => requireBound(view, binding))
  return failing([
    [bound !== undefined, 'reservation_binding_mismatch'],
    [
      held.principal === request.principal && held.task_id === request.task_id
        && held.bound_microusd === request.amount_microusd,
      'reservation_mismatch',
    ],
    [holdStates[phase].includes(held.state), 'reservation_not_held'],
  ])
}

const ledgerReasons = (one: TrustCase): Reasons => {
  const { view, request, phase } = one
  const account = orUndefined(() => requireAccount(view))
  if (account === undefined) return ['ledger_not_ready']
  const held = findReservation(view, request.operation_id)
  if (held) return heldReasons(one, held)
  return failing([
    [phase === 'preflight', 'reservation_missing'],
    [consumedOf(account) + request.amount_microusd <= account.ceiling_microusd, 'ceiling_exceeded'],
  ])
}

/** Every reason to deny, in a fixed order; [] allows. */
export const denyReasons = (one: TrustCase): Reasons => {
  const general = [...policyReasons(one), ...resourceReasons(one), ...ledgerReasons(one)]
  const task = findTask(one.view, one.request.task_id)
  if (task === undefined) return ['task_missing', ...general]
  return [
    ...taskReasons(one, task),
    ...principalReasons(one, task),
    ...rootReasons(one, task),
    ...goalReasons(one, task),
    ...consentReasons(one, task),
    ...leaseReasons(one, task),
    ...general,
  ]
}
