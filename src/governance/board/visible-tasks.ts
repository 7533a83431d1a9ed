/**
 * Who may see and touch a task.
 *
 * | for      | owner | current root | goal at the task's revision |
 * |----------|-------|--------------|-----------------------------|
 * | `show`   | yes   |              |                             |
 * | `cancel` | yes   | yes          |                             |
 * | `read`   | yes   | yes          | yes                         |
 * | `review` | yes   | yes          | yes                         |
 *
 * `show` is the content-safe row only, so that an owner finds the task to recover after a new
 * login. `read` is the output. Cancel only narrows, so a changed goal does not hinder it.
 * A foreign task is as absent as a missing one.
 */
import { fail } from '../../base/errors.js'
import { pageDefault } from '../../base/page.js'
import { walkIndex } from '../../state/indexes.js'
import type { CollectionSpec, View } from '../../state/types.js'
import {
  collections, tasksByGoal, tasksByKind, tasksByOwner, tasksByOwnState, type Job, type Task,
  type TaskState,
} from '../rows.js'
import type { Session } from '../context.js'
import { findTask } from './place.js'
import { isSpent } from './states.js'

/** What a task is wanted for. */
export type TaskUse = 'show' | 'read' | 'review' | 'cancel'

/** Whether the operator's session may read a task's output, and if not, why. */
export type TaskAccess = 'current' | 'root_replaced' | 'goal_changed'

const taskNotFound = () =>
  fail.notFound('task_not_found', 'There is no such task.', { next: 'Run `sallyport task list`.' })

/** A task by id. Throws `not_found`/`task_not_found`. */
export const getTask = (view: View, taskId: string): Task => {
  const task = findTask(view, taskId)
  if (task === undefined) throw taskNotFound()
  return task
}

/**
 * Compare-and-set for those who decided on what they read: throws `conflict`/`task_changed` unless
 * the task is still at the revision that they saw; without one there is nothing to compare.
 */
export const requireRevision = (task: Task, revision: number | undefined): void => {
  if (revision === undefined || task.revision === revision) return
  throw fail.conflict('task_changed', 'The task has changed since it was read.', {
    details: { task_id: task.task_id, revision: task.revision, expected_revision: revision },
  })
}

/** The job of a task. Throws `damaged`/`job_missing`. */
export const getJob = (view: View, task: Task): Job => {
  const job = view.get(collections.jobs, task.job_id)
  if (job !== undefined) return job
  throw fail.damaged('job_missing', 'A task has no job.', { next: 'Run `sallyport state check`.' })
}

/** Whether the task's goal exists, is its owner's, and has the revision of the task. */
const isGoalCurrent = (view: View, task: Task): boolean => {
  const goal = view.get(collections.goals, task.goal_id)
  return goal?.owner === task.owner && goal.revision === task.goal_revision
}

/** How a session of the task's owner stands to it. */
export const taskAccess = (view: View, session: Session, task: Task): TaskAccess => {
  if (task.current_root !== session.root.root_id) return 'root_replaced'
  return isGoalCurrent(view, task) ? 'current' : 'goal_changed'
}

/**
 * The operator's own task, for one use. Throws `not_found`/`task_not_found` for a missing or a
 * foreign task, `unauthorized`/`root_replaced` or `goal_changed` as the table above says.
 */
export const requireOwnTask = (
  view: View,
  session: Session,
  taskId: string,
  { for: use }: { readonly for: TaskUse } = { for: 'read' },
): Task => {
  const task = getTask(view, taskId)
  if (task.owner !== session.principal.principal_id) throw taskNotFound()
  const access = taskAccess(view, session, task)
  const all = isSpent(task)
    ? ' `sallyport task recover --all` takes over what sessions that are over left.' : ''
  const way = {
    next: `Run \`sallyport task recover ${task.task_id}\`.${all}`, details: { task_id: taskId },
  }
  if (access === 'root_replaced' && use !== 'show') {
    const text = 'This task belongs to another session of its owner.'
    throw fail.unauthorized('root_replaced', text, way)
  }
  if (access === 'goal_changed' && (use === 'read' || use === 'review')) {
    const text = 'The goal of this task has changed since the task was admitted.'
    throw fail.unauthorized('goal_changed', text, way)
  }
  return task
}

/** Which tasks to list. */
export interface TaskFilter {
  readonly kind?: string | undefined
  readonly state?: TaskState | undefined
  readonly goalId?: string | undefined
  /** Only those older than this one. */
  readonly after?: string | undefined
  /** Most tasks; default 50. */
  readonly limit?: number | undefined
  /** Only tasks that are not finished: reads no finished task at all. */
  readonly openOnly?: boolean | undefined
}

/** The index that leaves out the most of what is not asked for, and the key in it. */
const narrowest = (owner: string, { goalId, state, kind }: TaskFilter) => {
  if (goalId !== undefined) return { index: tasksByGoal, under: [owner, goalId] }
  if (state !== undefined) return { index: tasksByOwnState, under: [owner, state] }
  if (kind !== undefined) return { index: tasksByKind, under: [owner, kind] }
  return { index: tasksByOwner, under: [owner] }
}

const isWanted = (task: Task, { goalId, state, kind }: TaskFilter): boolean =>
  (kind === undefined || task.kind === kind) && (state === undefined || task.state === state)
  && (goalId === undefined || task.goal_id === goalId)

const newestOf = (
  view: View, spec: CollectionSpec<Task>, owner: string, filter: TaskFilter, limit: number,
): readonly Task[] => {
  const { index, under } = narrowest(owner, filter)
  const found: Task[] = []
  for (const { id } of walkIndex(view, spec, index, { under, from: filter.after, reverse: true })) {
    const task = view.get(spec, id)
    if (task !== undefined && isWanted(task, filter)) found.push(task)
    if (found.length >= limit) break
  }
  return found
}

/** The operator's own tasks, newest first. */
export const listTasks = (
  view: View,
  session: Session,
  filter: TaskFilter = {},
): readonly Task[] => {
  const { limit = pageDefault, openOnly = false } = filter
  const owner = session.principal.principal_id
  const places = openOnly
    ? [collections.openTasks] : [collections.openTasks, collections.closedTasks]
  return places
    .flatMap((spec) => newestOf(view, spec, owner, filter, limit))
    .sort((a, b) => (a.task_id < b.task_id ? 1 : -1))
    .slice(0, limit)
}
