/**
 * Where a task lies, and which place of its owner it has. Open and finished tasks are two
 * collections, and the state decides which. An outstanding task occupies the one place that its
 * owner has for its kind, or for its kind and a place that its admission named.
 */
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { collections, type Task } from '../rows.js'
import { isOpen } from './states.js'

/** A task wherever it lies, or undefined. */
export const findTask = (view: View, taskId: string): Task | undefined =>
  view.get(collections.openTasks, taskId) ?? view.get(collections.closedTasks, taskId)

/**
 * Writes a task to the collection of its state, removes it from the other one and counts the
 * change. Gives the row as it was written.
 */
export const putTask = (tx: Tx, task: Task): Task => {
  const open = isOpen(task.state)
  const home = open ? collections.openTasks : collections.closedTasks
  const other = open ? collections.closedTasks : collections.openTasks
  const revision = (findTask(tx, task.task_id)?.revision ?? 0) + 1
  const changed: Task = { ...task, revision }
  if (tx.get(other, task.task_id) !== undefined) tx.remove(other, task.task_id)
  tx.put(home, task.task_id, changed)
  return changed
}

type OwnersPlace = Pick<Task, 'owner' | 'kind' | 'place'>

/** Id of the row of a place: `<owner>/<kind>`, then `/<place>` where one was named. */
export const slotId = ({ owner, kind, place }: OwnersPlace): string =>
  place === null ? `${owner}/${kind}` : `${owner}/${kind}/${place}`

/** Whether a task has the place. */
export const isTaken = (view: View, place: OwnersPlace): boolean =>
  view.get(collections.ownerSlots, slotId(place)) !== undefined

/** The task that has the place; undefined where it is free, or its row is lost. */
export const taskInPlace = (view: View, place: OwnersPlace): Task | undefined => {
  const taken = view.get(collections.ownerSlots, slotId(place))
  return taken === undefined ? undefined : findTask(view, taken.task_id)
}

/** Only a question can wait for its turn. */
const waitsBy = ({ kind }: OwnersPlace): string =>
  (kind.startsWith('inference.') ? ' `alpha ask --wait-turn 60` waits by itself.' : '')

/** Throws `conflict`/`operation_outstanding` where another task has the place. */
export const requireFreePlace = (view: View, place: OwnersPlace): void => {
  const taken = view.get(collections.ownerSlots, slotId(place))
  if (taken === undefined) return
  // Cancelling it is not proposed: it may be paid for by the time that somebody types that.
  throw fail.conflict('operation_outstanding', 'An operation of this owner is under way already.', {
    next: `Wait until it has ended: \`sallyport task show ${taken.task_id}\`.${waitsBy(place)}`,
    details: { task_id: taken.task_id, outstanding_max: 1 },
  })
}

/** Gives a task the place of its owner. Throws as `requireFreePlace`. */
export const takePlace = (tx: Tx, task: Task): void => {
  requireFreePlace(tx, task)
  const { owner, kind, task_id } = task
  tx.put(collections.ownerSlots, slotId(task), { owner, kind, task_id })
}

/** Frees the place of a task's owner, if it is this task's. */
export const freePlace = (tx: Tx, task: Task): void => {
  const id = slotId(task)
  if (tx.get(collections.ownerSlots, id)?.task_id === task.task_id) {
    tx.remove(collections.ownerSlots, id)
  }
}
