/**
 * Steps 4 and 5, in one record: the lease, the trust decision, the route record and the hold in the
 * ledger. Either all of them stand or none, so nothing is ever held without the decision for it.
 */
import { isoFromMs } from '../../base/clock.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/read.js'
import { reserve } from '../../governance/ledger/steps.js'
import { collections, type Task } from '../../governance/rows.js'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { alphaProfile, alphaRuntime } from '../constants.js'
import { inferenceUrl } from '../request.js'
import { decideAsk, requireBeginning } from './authority.js'
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

const prepareRows = (operation: AskOperation, tx: Tx): Prepared => {
  const { gov } = operation.ctx
  const now = isoFromMs(gov.clock.wallMs())
  const queued = requireRunnable(operation, tx, ['queued'])
  const { setup, policyRevision } = requireBeginning(operation, tx, queued)
  moveTask(tx, now, operation.taskId, 'running', {
    budget_left_ms: operation.deadline.remainingMs(),
  })
  leaseTask(tx, now, operation.taskId, operation.holder, queued.deadline_at)
  const task = requireRunnable(operation, tx, ['running'])
  const bound = setup.request_cost_bound_microusd
  reserve(tx, now, { ...bindingOf(operation), taskId: task.task_id, principal: task.owner, bound })
  const { operationId } = operation
  const { provider } = operation.ctx
  const decision = decideAsk(operation, tx, task, tx.get(collections.routes, operationId))
  tx.put(collections.routes, operationId, {
    operation_id: operationId, runtime: alphaRuntime, profile: alphaProfile,
    provider: provider.name, model: provider.model_id, url: inferenceUrl(provider.base_url),
    decision_id: decision.decision_id, policy_revision: policyRevision,
    contacted_at: null, outcome: null,
  })
  return { timeoutSeconds: setup.timeout_seconds, boundMicrousd: bound }
}

/** Leases, decides and reserves; a throw leaves the task queued and nothing held. */
export const prepareAsk = (operation: AskOperation): Promise<Prepared> =>
  operation.ctx.gov.store.transact('alpha ask', (tx) => prepareRows(operation, tx))
