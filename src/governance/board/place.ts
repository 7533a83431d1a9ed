/** Where a task lies: open and finished tasks are two collections, and the state decides which. */
import type { Tx, View } from '../../state/types.js'
import { collections, type Task } from '../rows.js'
import { isOpen } from './states.js'

/** A task wherever it lies, or undefined. */
export const findTask = (view: View, taskId: string): Task | undefined =>
  view.get(collections.openTasks, taskId) ?? view.get(collections.closedTasks, taskId)

/** Writes a task to the collection of its state and removes it from the other one. */
export const putTask = (tx: Tx, task: Task): Task => {
  const open = isOpen(task.state)
  const home = open ? collections.openTasks : collections.closedTasks
  const other = open ? collections.closedTasks : collections.openTasks
  if (tx.get(other, task.task_id) !== undefined) tx.remove(other, task.task_id)
  tx.put(home, task.task_id, task)
  return task
}

/** Id of the one place an owner has for outstanding tasks of a kind. */
export const slotId = (owner: string, kind: string): string => `${owner}/${kind}`
