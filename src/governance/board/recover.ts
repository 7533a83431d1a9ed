import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { collections, type Task } from '../rows.js'
import { requireRootRow } from '../session/live.js'
import { noteNamed } from '../session/named.js'
import type { Session } from '../session/types.js'
import { putTask } from './place.js'
import { requireOwnTask, taskAccess } from './read.js'
import { isSpent } from './states.js'

/** Most recoveries of one task. */
export const recoveriesMax = 1_000

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
export const recoverOwnership = (
  tx: Tx,
  now: string,
  session: Session,
  taskId: string,
): Task => {
  const current = requireRootRow(tx, now, session.root.root_id)
  const task = requireOwnTask(tx, current, taskId, { for: 'show' })
  const access = taskAccess(tx, current, task)
  const goal = tx.get(collections.goals, task.goal_id)
  const finished = isSpent(task)
  if (finished && goal?.owner !== task.owner) {
    throw fail.unauthorized('goal_changed', 'The goal of this task does not exist any more.')
  }
  const revision = finished && goal !== undefined ? goal.revision : task.goal_revision
  const moves = access === 'root_replaced' || revision !== task.goal_revision
  if (!moves) return task
  if (task.recovered.length >= recoveriesMax) {
    throw fail.conflict('recoveries_max', 'This task has been recovered 1,000 times.', {
      details: { recoveries_max: recoveriesMax },
    })
  }
  tx.mark()
  const root = current.root.root_id
  const facts = {
    from_root: task.current_root,
    goal_revision: revision,
    from_goal_revision: task.goal_revision,
  }
  const principal = current.principal.principal_id
  appendAudit(tx, now, { what: 'task.recovered', principal, root, subject: taskId, facts })
  noteNamed(tx, root)
  return putTask(tx, {
    ...task,
    current_root: root,
    goal_revision: revision,
    recovered: [...task.recovered, { at: now, root, from_root: task.current_root }],
    updated_at: now,
  })
}
