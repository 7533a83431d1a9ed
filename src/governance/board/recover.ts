import { fail } from '../../base/errors.js'
import { walkIndex } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { collections, tasksByOwner, type Task } from '../rows.js'
import { mayLive, requireRootRow } from '../session/live.js'
import { noteNamed } from '../session/named.js'
import type { Gov, Session } from '../context.js'
import { findTask, putTask } from './place.js'
import { requireOwnTask, taskAccess } from './visible-tasks.js'
import { isSpent } from './states.js'

/** Most recoveries of one task. */
export const recoveriesMax = 1_000

/** A task that a session takes over, and the revision of its goal that it has then. */
interface Move {
  readonly task: Task
  readonly revision: number
}

/** What a recovery would change; null: nothing is left to do. Throws as `recoverOwnership`. */
const moveOf = (view: View, current: Session, task: Task): Move | null => {
  const access = taskAccess(view, current, task)
  const goal = view.get(collections.goals, task.goal_id)
  const finished = isSpent(task)
  if (finished && goal?.owner !== task.owner) {
    throw fail.unauthorized('goal_changed', 'The goal of this task does not exist any more.', {
      details: { task_id: task.task_id },
      next: `Its row is left: \`sallyport task show ${task.task_id}\`.`,
    })
  }
  const revision = finished && goal !== undefined ? goal.revision : task.goal_revision
  const moves = access === 'root_replaced' || revision !== task.goal_revision
  if (!moves) return null
  if (task.recovered.length >= recoveriesMax) {
    throw fail.conflict('recoveries_max', 'This task has been recovered 1,000 times.', {
      details: { recoveries_max: recoveriesMax, task_id: task.task_id },
      next: `Its row is left: \`sallyport task show ${task.task_id}\`.`,
    })
  }
  return { task, revision }
}

const putMoved = (tx: Tx, now: string, root: string, { task, revision }: Move): Task =>
  putTask(tx, {
    ...task,
    current_root: root,
    goal_revision: revision,
    recovered: [...task.recovered, { at: now, root, from_root: task.current_root }],
    updated_at: now,
  })

/**
 * Gives the operator's present session the reading, review and cancel of one of the operator's own
 * tasks, with an audit row. The original root stays, so this never leads to contact; a paid result
 * that waits for a person is accepted from the session that holds its task. A task whose
 * result waits so, or that is finished, also takes over the present revision of its goal, because
 * nothing of it is sent any more; another open one keeps the revision it was admitted under.
 * Nothing to do when the session has all that already. Throws `not_found`,
 * `conflict`/`recoveries_max`, `unauthorized`/`goal_changed` for one of these whose
 * goal is gone.
 */
export const recoverOwnership = (tx: Tx, now: string, session: Session, taskId: string): Task => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const task = requireOwnTask(tx, current, taskId, { for: 'show' })
  const move = moveOf(tx, current, task)
  if (move === null) return task
  tx.mark()
  const root = current.root.root_id
  const facts = {
    from_root: task.current_root,
    goal_revision: move.revision,
    from_goal_revision: task.goal_revision,
  }
  const principal = current.principal.principal_id
  appendAudit(tx, now, { what: 'task.recovered', principal, root, subject: taskId, facts })
  noteNamed(tx, root)
  return putMoved(tx, now, root, move)
}

/** What a session could take over, without a look at what cannot be. */
const movable = (view: View, current: Session, task: Task): Move | null => {
  try {
    return isSpent(task) ? moveOf(view, current, task) : null
  } catch {
    // Its goal is gone, or it was recovered too often: asked for by its id it says which.
    return null
  }
}

/** Whether another session that lives holds a task: only who names the task takes it then. */
const isHeldElsewhere = (
  view: View, gov: Gov, session: Session, { current_root: root }: Task,
): boolean => root !== session.root.root_id && mayLive(view, gov, root)

/** Whether `task recover --all` would take it over. */
export const isTakenWithAll = (view: View, gov: Gov, current: Session, task: Task): boolean =>
  canTakeOver(view, current, task) && !isHeldElsewhere(view, gov, current, task)

/** Whether `task recover` would take it over by its id. */
export const canTakeOver = (view: View, current: Session, task: Task): boolean =>
  movable(view, current, task) !== null

/** Most that one act writes: a task counts as eight, and each of its earlier recoveries as one. */
const actWeightMax = 16_000
const taskWeight = 8

/** The operator's finished tasks that a session held which is over, as many as one act moves. */
export const recoverableTasks = (gov: Gov, session: Session): readonly Task[] => {
  const view = gov.store.read()
  const found: Task[] = []
  let weight = 0
  for (const spec of [collections.closedTasks, collections.openTasks]) {
    const under = [session.principal.principal_id]
    for (const { id } of walkIndex(view, spec, tasksByOwner, { under, reverse: true })) {
      const task = view.get(spec, id)
      if (task === undefined || !isTakenWithAll(view, gov, session, task)) continue
      weight += taskWeight + task.recovered.length
      if (weight > actWeightMax && found.length > 0) return found
      found.push(task)
    }
  }
  return found
}

/**
 * The same as `recoverOwnership` for many finished tasks, as one act with one audit row, which
 * says how many; each task keeps when it was taken over and from whom. What cannot be taken over
 * any more, or was taken over by another since, is left as it is. Answers how many were.
 */
export const recoverFinished = (
  tx: Tx, now: string, session: Session,
  found: readonly Pick<Task, 'task_id' | 'current_root'>[],
): number => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const owner = current.principal.principal_id
  const moves = found.flatMap(({ task_id: id, current_root: holder }) => {
    const task = findTask(tx, id)
    const isAsFound = task?.owner === owner && task.current_root === holder
    return (isAsFound ? movable(tx, current, task) : null) ?? []
  })
  if (moves.length === 0) return 0
  tx.mark()
  const root = current.root.root_id
  const facts = { tasks: moves.length }
  appendAudit(tx, now, { what: 'task.recovered_all', principal: owner, root, subject: root, facts })
  noteNamed(tx, root)
  for (const move of moves) putMoved(tx, now, root, move)
  return moves.length
}
