/** The tasks of a prune: which may go, and taking them away slice by slice. */
import { dropRoute } from '../../contact/routes.js'
import type { Registry } from '../../governance/capability.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { findReservation } from '../../governance/ledger/find-reservation.js'
import {
  countPruned, dropTask, mayTaskGo, type DroppedArtifact, type TaskAge,
} from '../../governance/retention/tasks.js'
import { collections, type Task, type TaskPrune } from '../../governance/rows.js'
import { foldMeanwhile } from '../../state/care/forget.js'
import type { Tx, View } from '../../state/types.js'
import { DroppedNames } from './dropped.js'
import { pagesOf } from './pages.js'

/** Kinds of tasks that a person may have removed. */
export const prunableKinds = (registry: Registry): readonly string[] =>
  registry.filter(({ prunable }) => prunable === true).flatMap(({ taskKinds }) => taskKinds)

/** Whether a task may go, by the rows of one moment. */
export const goes = (view: View, task: Task, age: TaskAge): boolean => mayTaskGo({
  task, money: findReservation(view, task.operation_id),
  key: view.get(collections.idempotency, task.idempotency_key),
}, age)

/** A tombstone that counts nothing yet. */
export const newTombstone = (
  pruneId: string, now: string, before: string, { principal }: Session,
): TaskPrune => ({
  prune_id: pruneId, at: now, last_at: now, before, principal: principal.principal_id,
  succeeded: 0, failed: 0, cancelled: 0,
})

/** The tasks that would go. Reads only, a page at a time. */
function* tasksToGo(gov: Gov, age: TaskAge): Generator<readonly Task[], void, undefined> {
  for (const { view, rows } of pagesOf(gov.store, collections.closedTasks)) {
    const tasks = rows.map(({ doc }) => doc).filter((task) => goes(view, task, age))
    if (tasks.length > 0) yield tasks
  }
}

/** Removes those of `found` that still may go, and counts them in their tombstone. */
const dropSlice = (
  tx: Tx, now: string, found: readonly Task[], fresh: TaskPrune, age: TaskAge,
): { readonly tasks: readonly Task[], readonly artifacts: readonly DroppedArtifact[] } => {
  const tasks = found.flatMap(({ task_id: id }) => {
    const task = tx.get(collections.closedTasks, id)
    return task !== undefined && goes(tx, task, age) ? [task] : []
  })
  if (tasks.length === 0) return { tasks, artifacts: [] }
  const artifacts = tasks.flatMap((task) => dropTask(tx, now, task))
  for (const { operation_id: operation } of tasks) dropRoute(tx, operation)
  const counted = tx.get(collections.taskPrunes, fresh.prune_id) ?? fresh
  tx.put(collections.taskPrunes, fresh.prune_id, countPruned(counted, tasks, now))
  return { tasks, artifacts }
}

/**
 * Removes the tasks that may go, each slice in a record of its own: decided once more under the
 * lock, by the same rule. `told` gets how many are gone so far. Gives their sealed files.
 */
export const pruneTasks = async (
  gov: Gov, fresh: TaskPrune, age: TaskAge, told: (gone: number) => void | Promise<void>,
): Promise<DroppedNames> => {
  const dropped = new DroppedNames()
  let gone = 0
  for (const tasks of tasksToGo(gov, age)) {
    const done = await gov.store.transact('state prune', (tx) =>
      dropSlice(tx, nowIso(gov), tasks, fresh, age))
    for (const one of done.artifacts) dropped.add(one)
    await foldMeanwhile(gov.store, 'state prune')
    gone += done.tasks.length
    await told(gone)
  }
  return dropped
}
