/**
 * Steps 4 and 5, in one record: the lease, the trust decision, the route record and the hold in the
 * ledger. Either all of them stand or none, so nothing is ever held without the decision for it.
 */
import { isoFromMs } from '../../base/clock.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/read.js'
import { reserve } from '../../governance/ledger/steps.js'
import type { Task } from '../../governance/rows.js'
import { fail } from '../../base/errors.js'
import {
  decideTrust, refuseDenied, requireAllowed, trustFacts, type TrustFacts, type TrustRequest,
} from '../../governance/trust.js'
import type { Tx, View } from '../../state/types.js'
import {
  alphaCapability, alphaProfile, alphaPurpose, alphaRouteName, alphaRuntime,
} from '../constants.js'
import { inferenceUrl } from '../request.js'
import { requireContactAuthority, type AskAuthority } from './authority.js'
import { bindingOf, cancelWanted, type AskOperation } from './operation.js'

/** What the operation was allowed, as the rows have it. */
export interface Prepared {
  readonly timeoutSeconds: number
  readonly boundMicrousd: number
}

/** The task, still running for this operation and not cancelled; throws otherwise. */
export const requireRunnable = (
  operation: AskOperation, view: View, states: readonly Task['state'][],
): Task => {
  const task = getTask(view, operation.taskId)
  if (task.operation_id !== operation.operationId || !states.includes(task.state)) {
    throw fail.conflict('task_not_runnable', 'The task has ended or is run by somebody else.', {
      reason: 'task_not_runnable',
    })
  }
  if (cancelWanted(operation, task)) {
    throw fail.cancelled('ask_cancelled', 'The ask was cancelled before contact.')
  }
  if (operation.deadline.remainingMs() <= 0) {
    throw fail.locked('deadline_passed', 'The deadline of 120 seconds passed before contact.', {
      reason: 'deadline_passed', next: 'Nothing was sent. Ask again.',
    })
  }
  return task
}

/** The exact request that trust evaluates: rows, constants and the session. */
const trustRequestOf = (
  operation: AskOperation, task: Task, authority: AskAuthority,
): TrustRequest => {
  const { ctx: { gov, provider }, session } = operation
  if (!task.lease) {
    throw fail.blocked('trust_denied', 'Nobody holds the lease of this running task.', {
      reason: 'lease_missing', next: 'Nothing was sent. Run: sallyport state check',
    })
  }
  const principal = session.principal.principal_id
  return {
    capability: alphaCapability,
    principal,
    // Who really asks, and through which face: evaluation compares it with the task's row.
    provenance: { face: gov.face, principal, root: session.root.root_id },
    resource: {
      runtime: alphaRuntime,
      profile: alphaProfile,
      provider: provider.name,
      model: provider.model_id,
      url: inferenceUrl(provider.base_url),
    },
    authority: {
      root: task.original_root,
      goal_id: task.goal_id,
      goal_revision: task.goal_revision,
      consent_id: authority.consent.consent_id,
      consent_revision: authority.consent.bound_revision,
      policy_revision: authority.policyRevision,
    },
    task_id: task.task_id,
    job_id: task.job_id,
    operation_id: task.operation_id,
    lease: { holder: operation.holder, fence: task.lease.fence },
    amount_microusd: authority.setup.request_cost_bound_microusd,
  }
}

const factsOf = (operation: AskOperation, view: View): TrustFacts => {
  const { gov, provider } = operation.ctx
  return trustFacts(gov, view, {
    capability: alphaCapability,
    purpose: alphaPurpose,
    runtime: alphaRuntime,
    route: alphaRouteName,
    profile: alphaProfile,
    provider: provider.name,
    model: provider.model_id,
    url: inferenceUrl(provider.base_url),
  })
}

/** Re-evaluates the stored decision of this operation against the rows of now; throws on deny. */
export const requireTrust = (
  operation: AskOperation, view: View, task: Task, authority: AskAuthority,
): void => {
  const request = trustRequestOf(operation, task, authority)
  requireAllowed(view, operation.operationId, request, factsOf(operation, view))
}

const prepareRows = (operation: AskOperation, tx: Tx): Prepared => {
  const { gov } = operation.ctx
  const now = isoFromMs(gov.clock.wallMs())
  const queued = requireRunnable(operation, tx, ['queued'])
  const authority = requireContactAuthority(operation.ctx, tx, queued, operation.input)
  moveTask(tx, now, operation.taskId, 'running', {
    budget_left_ms: operation.deadline.remainingMs(),
  })
  leaseTask(tx, now, operation.taskId, operation.holder, queued.deadline_at)
  const task = requireRunnable(operation, tx, ['running'])
  const bound = authority.setup.request_cost_bound_microusd
  reserve(tx, now, { ...bindingOf(operation), taskId: task.task_id, principal: task.owner, bound })
  refuseDenied(decideTrust(
    tx, trustRequestOf(operation, task, authority), factsOf(operation, tx),
  ))
  return { timeoutSeconds: authority.setup.timeout_seconds, boundMicrousd: bound }
}

/** Leases, decides and reserves; a throw leaves the task queued and nothing held. */
export const prepareAsk = (operation: AskOperation): Promise<Prepared> =>
  operation.ctx.gov.store.transact('alpha ask', (tx) => prepareRows(operation, tx))
