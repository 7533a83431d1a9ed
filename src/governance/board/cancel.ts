import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { collections, type Task } from '../rows.js'
import { requireRootRow } from '../session/live.js'
import type { Session } from '../context.js'
import { moveTask } from './move.js'
import { putTask } from './place.js'
import { getTask, requireOwnTask } from './visible-tasks.js'
import { costLiability, heldAnswerNext, isHeld } from './states.js'

const refuse = (task: Task): never => {
  const details = { task_id: task.task_id, state: task.state }
  if (task.blocked !== null) {
    const { reason } = task.blocked
    if (task.blocked.kind === costLiability || isHeld(task)) {
      throw fail.blocked('task_blocked', 'A blocked task cannot be cancelled: its money stands.', {
        reason, next: heldAnswerNext(task) ?? 'Run `sallyport ledger reservations`.', details,
      })
    }
    throw fail.blocked('task_blocked', 'A blocked task cannot be cancelled: what it did stands.', {
      reason, next: `Look at it: \`sallyport task show ${task.task_id}\`.`, details,
    })
  }
  throw fail.conflict('task_finished', 'This task has finished already.', { details })
}

const idleStates: readonly string[] = ['prepared', 'accepted', 'queued']

/**
 * The task that a cancel would change; null where it is cancelled, or asked to be, already. Throws
 * as `requestCancel` does.
 */
export const requireCancellable = (view: View, session: Session, taskId: string): Task | null => {
  const task = requireOwnTask(view, session, taskId, { for: 'cancel' })
  if (task.state === 'cancelled' || task.cancel_requested_at !== null) return null
  return idleStates.includes(task.state) || task.state === 'running' ? task : refuse(task)
}

/**
 * Cancels one of the operator's tasks. One that nobody works on and that holds no money is
 * cancelled at once; otherwise the wish is recorded, and the process that works on it (or recovery)
 * ends it: it does not contact any more, or settles what it has contacted and drops the answer. A
 * task that is cancelled, or asked to be, is nothing to do. Throws `blocked`/`task_blocked` (an
 * open liability beats a cancel), `conflict`/`task_finished`, and what `requireOwnTask` throws.
 */
export const requestCancel = (tx: Tx, now: string, session: Session, taskId: string): Task => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const task = requireCancellable(tx, current, taskId)
  if (task === null) return getTask(tx, taskId)
  const idle = idleStates.includes(task.state)
  const by = { principal: current.principal.principal_id, root: current.root.root_id }
  tx.mark()
  const asked = putTask(tx, { ...task, cancel_requested_at: now, updated_at: now })
  appendAudit(tx, now, { what: 'task.cancel_requested', ...by, subject: taskId })
  const held = tx.get(collections.openReservations, task.operation_id) !== undefined
  if (!idle || task.lease !== null || held) return asked
  return moveTask(tx, now, taskId, 'cancelled', { reason: 'cancelled_by_owner' })
}
