/**
 * Closing a task that an unknown charge had blocked, once a person has said what it cost. No answer
 * comes back; what closing changes is that the task no longer waits for anybody.
 */
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { moneyNext } from '../ledger/due.js'
import { findReservation } from '../ledger/find-reservation.js'
import { isOwnerGone } from '../ledger/own.js'
import { isUnreadOpen } from '../ledger/unread.js'
import type { Task } from '../rows.js'
import { requireRootRow } from '../session/live.js'
import type { Session } from '../context.js'
import { moveTask } from './move.js'
import { getTask, requireOwnTask } from './visible-tasks.js'
import { costLiability } from './states.js'

/** Reason of a task that was closed after its charge was settled by hand. */
export const closedByHand = 'charge_settled_by_hand'

/**
 * The session's own task, or one of an owner who is gone, which nobody could end: whoever may
 * settle its money. Throws `not_found`/`task_not_found`.
 */
export const requireTaskToEnd = (view: View, session: Session, taskId: string): Task => {
  const task = getTask(view, taskId)
  return isOwnerGone(view, task.owner)
    ? task : requireOwnTask(view, session, taskId, { for: 'show' })
}

/**
 * The session's own task for a review; one to be rejected may be of an owner who is gone,
 * too: that releases nothing. Throws as `requireOwnTask`.
 */
export const requireReviewed = (
  view: View, session: Session, taskId: string, verdict: 'accept' | 'reject',
): Task => {
  const found = verdict === 'reject' ? requireTaskToEnd(view, session, taskId) : undefined
  return found !== undefined && found.owner !== session.principal.principal_id
    ? found : requireOwnTask(view, session, taskId, { for: 'review' })
}

/**
 * Whether a person has yet to say what the task cost. Where the rows of its charge are lost, what
 * unread records may have cost stands for it.
 */
const isOwing = (view: View, { operation_id }: Task): boolean => {
  const money = findReservation(view, operation_id)
  if (money === undefined) return isUnreadOpen(view)
  return money.state !== 'settled' || money.overrun === 'review_required'
}

/**
 * Closes a task that is blocked on a charge which is settled by now: it ends as failed, with the
 * reason `charge_settled_by_hand`. Nothing to do for one that was closed so. Throws
 * `blocked`/`charge_open` while the charge is open or its overrun waits for a review,
 * `conflict`/`task_not_closable` for a task that no charge blocks, and `not_found`.
 */
export const closeTask = (
  tx: Tx, now: string, session: Session, taskId: string,
): { readonly task: Task; readonly closed: boolean } => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const task = requireTaskToEnd(tx, current, taskId)
  if (task.reason === closedByHand) return { task, closed: false }
  const details = { task_id: taskId, state: task.state }
  if (task.blocked?.kind !== costLiability) {
    const text = 'Only a task that a charge blocks is closed by hand.'
    throw fail.conflict('task_not_closable', text, { details })
  }
  if (isOwing(tx, task)) {
    throw fail.blocked('charge_open', 'The charge of this task is not accounted for.', {
      reason: task.blocked.reason, details,
      next: moneyNext(tx, task.operation_id),
    })
  }
  const by = { principal: current.principal.principal_id, root: current.root.root_id }
  tx.mark()
  appendAudit(tx, now, { what: 'task.closed', ...by, subject: taskId })
  const ended = moveTask(tx, now, task.task_id, 'failed', { accounted: true, reason: closedByHand })
  return { task: ended, closed: true }
}
