/**
 * What an ask rests on, before its hold and at contact: its task, its authority, the decision that
 * was made for it and the stored input. All of it is read from rows of that very moment.
 */
import { fail } from '../../base/errors.js'
import type { Terms } from '../../contact/order.js'
import { routeOf, type RouteDraft } from '../../contact/routes.js'
import { readArtifact } from '../../governance/artifacts.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/visible-tasks.js'
import type { Task } from '../../governance/rows.js'
import type { FreshView, Tx, View } from '../../state/types.js'
import { alphaArtifactLabels } from '../constants.js'
import { encodeInput } from '../input.js'
import { inferenceUrl } from '../request.js'
import { decideAsk, requireBeginning, requireContact } from './authority.js'
import { cancelWanted, type AskOperation } from './operation.js'

/** The task, still run by this operation and not cancelled; throws otherwise. */
const requireRunnable = (operation: AskOperation, view: View, state: Task['state']): Task => {
  const task = getTask(view, operation.taskId)
  if (task.operation_id !== operation.operationId || task.state !== state) {
    throw fail.conflict('task_not_runnable', 'The task has ended or is run by somebody else.', {
      reason: 'task_not_runnable',
    })
  }
  if (cancelWanted(operation, task)) {
    throw fail.cancelled('ask_cancelled', 'The ask was cancelled before contact.')
  }
  return task
}

/** Leases the task; a throw leaves it queued and nothing held. */
export const prepareAsk = (operation: AskOperation, tx: Tx, now: string): Terms => {
  const queued = requireRunnable(operation, tx, 'queued')
  const { setup } = requireBeginning(operation, tx, queued)
  moveTask(tx, now, operation.taskId, 'running', {
    budget_left_ms: operation.deadline.remainingMs(),
  })
  leaseTask(tx, now, operation.taskId, operation.operationId, queued.deadline_at)
  const task = requireRunnable(operation, tx, 'running')
  return {
    hold: {
      taskId: task.task_id, principal: task.owner,
      boundMicrousd: setup.request_cost_bound_microusd,
    },
    requestMs: setup.timeout_seconds * 1_000,
  }
}

/** Decides whether the prepared ask may go out, and where it goes; throws to refuse. */
export const decidePrepared = (
  operation: AskOperation, tx: Tx,
): Omit<RouteDraft, 'runtime' | 'profile'> => {
  const { ctx: { provider }, operationId } = operation
  const task = requireRunnable(operation, tx, 'running')
  const { decision, policyRevision } = decideAsk(operation, tx, task, routeOf(tx, operationId))
  return {
    provider: provider.name, model: provider.model_id, url: inferenceUrl(provider.base_url),
    decision_id: decision.decision_id, policy_revision: policyRevision,
  }
}

/** Everything that the contact rests on, judged anew; answers the policy revision. */
export const requireAsk = (operation: AskOperation, view: FreshView): number => {
  const task = requireRunnable(operation, view, 'running')
  return requireContact(operation, view, task, routeOf(view, operation.operationId)).policyRevision
}

/** What is sent must be what the stored input still says, to the byte. */
export const requireStoredInput = (operation: AskOperation, view: View): void => {
  const { input_artifact_id: id } = getTask(view, operation.taskId)
  const stored = readArtifact(operation.ctx.gov, view, id, alphaArtifactLabels.input)
  try {
    if (stored.equals(encodeInput(operation.input))) return
  } finally {
    stored.fill(0)
  }
  throw fail.blocked('input_altered', 'The stored input is not the one that was admitted.', {
    reason: 'input_altered', next: 'Nothing was sent. Run `sallyport state check`.',
  })
}
