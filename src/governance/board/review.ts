/** Human review: the only way from succeeded to Done. */
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { moneyNext } from '../ledger/due.js'
import { collections, type Task } from '../rows.js'
import { requireRootRow } from '../session/live.js'
import type { Session } from '../context.js'
import { putTask } from './place.js'
import { heldAnswerNext } from './states.js'
import { requireOwnTask } from './visible-tasks.js'

/** What a person decides about a succeeded task. */
export type Verdict = 'approve' | 'reject'

const requireReviewable = (view: View, task: Task): void => {
  const details = { task_id: task.task_id, state: task.state }
  if (task.blocked !== null) {
    throw fail.blocked('task_blocked', 'A blocked task cannot be reviewed.', {
      reason: task.blocked.reason,
      next: heldAnswerNext(task) ?? moneyNext(view, task.operation_id),
      details,
    })
  }
  if (task.state !== 'succeeded') {
    throw fail.conflict('task_not_succeeded', 'Only a succeeded task can be reviewed.', { details })
  }
  // A forged or half-restored task row must not hide money that nobody has accounted for.
  const open = view.get(collections.openReservations, task.operation_id)
  if (open !== undefined && (open.state !== 'settled' || open.overrun === 'review_required')) {
    const reason = open.state === 'settled' ? 'overrun_review_required' : 'liability_open'
    throw fail.blocked('task_blocked', 'The charge of this task is not accounted for.', {
      reason,
      next: moneyNext(view, task.operation_id),
      details,
    })
  }
}

/**
 * Reviews a succeeded task of the operator: `approve` makes it Done, `reject` leaves it succeeded
 * and never Done. The same verdict again is nothing to do. Throws `blocked`/`task_blocked` for a
 * blocked task or an open liability, `conflict`/`task_not_succeeded`,
 * `conflict`/`already_reviewed`, and what `requireOwnTask` throws.
 */
export const reviewTask = (
  tx: Tx,
  now: string,
  session: Session,
  taskId: string,
  verdict: Verdict,
): Task => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const task = requireOwnTask(tx, current, taskId, { for: 'review' })
  requireReviewable(tx, task)
  const review = verdict === 'approve' ? 'approved' : 'rejected'
  if (task.review === review) return task
  if (task.review !== 'pending') {
    throw fail.conflict('already_reviewed', 'This task has been reviewed the other way.', {
      details: { task_id: task.task_id, review: task.review },
    })
  }
  tx.mark()
  const by = { principal: current.principal.principal_id, root: current.root.root_id }
  appendAudit(tx, now, { what: 'task.reviewed', ...by, subject: taskId, facts: { review } })
  const done = review === 'approved' ? now : null
  return putTask(tx, { ...task, review, done_at: done, updated_at: now })
}
