/** The one way a task changes state. */
import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { collections, type Task, type TaskState } from '../rows.js'
import { putTask, slotId } from './place.js'
import { getTask } from './read.js'
import { canMove, costLiability, isOutstanding } from './states.js'

/** What a move may bring along. */
export interface TaskPatch {
  /** Needed for `blocked`, refused elsewhere. */
  readonly blocked?: NonNullable<Task['blocked']> | undefined
  /** Needed for `failed` and `cancelled`, refused elsewhere: a snake_case reason. */
  readonly reason?: string | undefined
  /** What is left of the operation's budget; it only ever shrinks. */
  readonly budget_left_ms?: number | undefined
  /** For `succeeded` only. */
  readonly result_artifact_id?: string | null
}

const requirePatch = (to: TaskState, patch: TaskPatch): void => {
  if ((patch.blocked !== undefined) !== (to === 'blocked')) {
    throw new TypeError('a blocked task, and only one, names what blocks it')
  }
  if ((patch.reason !== undefined) !== (to === 'failed' || to === 'cancelled')) {
    throw new TypeError('a failed or cancelled task, and only one, names its reason')
  }
  if ((patch.result_artifact_id ?? null) !== null && to !== 'succeeded') {
    throw new TypeError('only a succeeded task has a result')
  }
}

const refuseMove = (task: Task, to: TaskState): never => {
  if (task.state === 'blocked' && task.blocked !== null) {
    const { kind, reason } = task.blocked
    throw fail.blocked('task_blocked', 'This task is blocked and cannot go on.', {
      reason,
      next: 'Run `sallyport ledger reservations`.',
      details: { task_id: task.task_id, kind },
    })
  }
  throw fail.conflict('task_state', 'The task is in a state that does not lead there.', {
    details: { task_id: task.task_id, from: task.state, to },
  })
}

const mayMove = (task: Task, to: TaskState): boolean =>
  canMove(task.state, to) && task.blocked?.kind !== costLiability

/**
 * Moves a task along the closed table: places it with the open or the finished ones, frees the
 * owner's place when it is no longer outstanding, ends its lease when it stops running, and opens
 * the human review when it succeeds. A task that moves to running is leased in the
 * same transaction. Throws `conflict`/`task_state`, `blocked`/`task_blocked`, `not_found`.
 */
export const moveTask = (
  tx: Tx,
  now: string,
  taskId: string,
  to: TaskState,
  patch: TaskPatch = {},
): Task => {
  const task = getTask(tx, taskId)
  if (!mayMove(task, to)) refuseMove(task, to)
  requirePatch(to, patch)
  const left = patch.budget_left_ms ?? task.budget_left_ms
  const moved: Task = {
    ...task,
    state: to,
    blocked: patch.blocked === undefined ? null : { ...patch.blocked },
    reason: patch.reason ?? null,
    lease: isOutstanding(to) ? task.lease : null,
    budget_left_ms: Math.max(0, Math.min(task.budget_left_ms, Math.floor(left))),
    review: to === 'succeeded' ? 'pending' : task.review,
    result_artifact_id: patch.result_artifact_id ?? null,
    updated_at: now,
  }
  if (!isOutstanding(to)) {
    const slot = slotId(task.owner, task.kind)
    if (tx.get(collections.ownerSlots, slot)?.task_id === taskId) {
      tx.remove(collections.ownerSlots, slot)
    }
    const { principal, root } = task.provenance
    const facts = { from: task.state, to, reason: patch.reason ?? patch.blocked?.reason ?? null }
    appendAudit(tx, now, { what: 'task.moved', principal, root, subject: taskId, facts })
  }
  return putTask(tx, moved)
}

/**
 * Keeps what is left of a task's budget: the smaller of what is kept and what is given, so that no
 * stage and no restart lengthens an operation.
 */
export const keepBudget = (tx: Tx, now: string, taskId: string, leftMs: number): Task => {
  const task = getTask(tx, taskId)
  const budget = Math.max(0, Math.min(task.budget_left_ms, Math.floor(leftMs)))
  return putTask(tx, { ...task, budget_left_ms: budget, updated_at: now })
}
