/** The one way a task changes state. */
import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { collections, type Task, type TaskState } from '../rows.js'
import { freePlace, putTask, takePlace } from './place.js'
import { getJob, getTask, requireRevision } from './visible-tasks.js'
import { canEndAccounted, canGoOn, canMove, costLiability, isOutstanding } from './states.js'

/** New limits of work that begins or goes on. */
interface WorkLimits {
  /** ISO: wall deadline of the whole operation. */
  readonly deadline_at: string
  readonly budget_left_ms: number
}

/**
 * What lets a capability take its own blocked work on: which kinds and which blocks are its. On
 * `cost_liability` nothing does.
 */
interface BlockAuthority {
  readonly kinds: readonly string[]
  readonly blocked: readonly string[]
}

/** Blocked work that goes on, as its next attempt. */
export interface Continuation extends WorkLimits {
  readonly by: BlockAuthority
  readonly attempt_id: string
  /** Another operation that takes it on, whose guard says that it is at work. */
  readonly operation_id?: string
}

/** What a move may bring along. */
export interface TaskPatch {
  /** Refuses the move (`conflict`/`task_changed`) unless the task is still at this revision. */
  readonly revision?: number | undefined
  /** Needed from `prepared` to `accepted`, refused elsewhere. */
  readonly starts?: WorkLimits | undefined
  /** Needed from `blocked` to `queued`, refused elsewhere. */
  readonly goesOn?: Continuation | undefined
  /** Needed for `blocked`, refused elsewhere. */
  readonly blocked?: NonNullable<Task['blocked']> | undefined
  /** Lets a task that a charge blocks end as `failed`: the charge is accounted for by now. */
  readonly accounted?: true | undefined
  /** Needed for `failed` and `cancelled`, refused elsewhere: a snake_case reason. */
  readonly reason?: string | undefined
  /** What is left of the operation's budget; it only ever shrinks. */
  readonly budget_left_ms?: number | undefined
  /** For `succeeded` only. */
  readonly result_artifact_id?: string | null
}

const requirePatch = (from: TaskState, to: TaskState, patch: TaskPatch): void => {
  if ((patch.starts !== undefined) !== (from === 'prepared' && to === 'accepted')) {
    throw new TypeError('prepared work that starts, and only such, brings its limits')
  }
  if ((patch.goesOn !== undefined) !== (from === 'blocked' && to === 'queued')) {
    throw new TypeError('blocked work that goes on, and only such, names who takes it on')
  }
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

const mayMove = (task: Task, to: TaskState, { goesOn, accounted }: TaskPatch): boolean => {
  if (task.blocked?.kind === costLiability) return accounted === true && canEndAccounted(to)
  if (canMove(task.state, to)) return true
  return canGoOn(task.state, to) && goesOn !== undefined && isOwn(task, goesOn.by)
}

const isOwn = ({ kind, blocked }: Task, { kinds, blocked: blocks }: BlockAuthority): boolean =>
  blocked !== null && kinds.includes(kind) && blocks.includes(blocked.kind)

const limitsOf = (task: Task, patch: TaskPatch): WorkLimits => {
  const fresh = patch.starts ?? patch.goesOn
  if (fresh !== undefined) {
    const budget = Math.max(0, Math.floor(fresh.budget_left_ms))
    return { deadline_at: fresh.deadline_at, budget_left_ms: budget }
  }
  const left = patch.budget_left_ms ?? task.budget_left_ms
  const budget = Math.max(0, Math.min(task.budget_left_ms, Math.floor(left)))
  return { deadline_at: task.deadline_at, budget_left_ms: budget }
}

/** The job is at the attempt and the operation of its task. */
const putAttempt = (tx: Tx, now: string, task: Task, attempt_id: string): void => {
  const job = getJob(tx, task)
  tx.put(collections.jobs, job.job_id, {
    ...job, attempt: task.attempt, attempt_id, operation_id: task.operation_id, updated_at: now,
  })
}

const auditMove = (tx: Tx, now: string, from: Task, to: TaskState, patch: TaskPatch): void => {
  const { principal, root } = from.provenance
  const reason = patch.reason ?? patch.blocked?.reason ?? null
  const facts = { from: from.state, to, reason }
  appendAudit(tx, now, { what: 'task.moved', principal, root, subject: from.task_id, facts })
}

/**
 * Moves a task along the closed table: places it with the open or the finished ones, takes the
 * owner's place when it becomes outstanding and frees it when it is so no longer, ends its lease
 * when it stops running, counts an attempt when blocked work goes on, and opens the human review
 * when it succeeds. A task that moves to running is leased in the same transaction.
 * Throws `conflict`: `task_state`, `task_changed`, `operation_outstanding`;
 * `blocked`/`task_blocked`; `not_found`.
 */
export const moveTask = (
  tx: Tx,
  now: string,
  taskId: string,
  to: TaskState,
  patch: TaskPatch = {},
): Task => {
  const task = getTask(tx, taskId)
  requireRevision(task, patch.revision)
  if (!mayMove(task, to, patch)) refuseMove(task, to)
  requirePatch(task.state, to, patch)
  const moved: Task = {
    ...task,
    state: to,
    blocked: patch.blocked === undefined ? null : { ...patch.blocked },
    reason: patch.reason ?? null,
    lease: isOutstanding(to) ? task.lease : null,
    attempt: patch.goesOn === undefined ? task.attempt : task.attempt + 1,
    operation_id: patch.goesOn?.operation_id ?? task.operation_id,
    ...limitsOf(task, patch),
    review: to === 'succeeded' ? 'pending' : task.review,
    result_artifact_id: patch.result_artifact_id ?? null,
    updated_at: now,
  }
  if (isOutstanding(to) && !isOutstanding(task.state)) takePlace(tx, task)
  if (!isOutstanding(to)) freePlace(tx, task)
  if (patch.goesOn !== undefined) putAttempt(tx, now, moved, patch.goesOn.attempt_id)
  if (!isOutstanding(to) || !isOutstanding(task.state)) auditMove(tx, now, task, to, patch)
  return putTask(tx, moved)
}
