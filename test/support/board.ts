import { collections, type Task } from '../../src/governance/rows.js'
import type { Stateful } from '../world/state.js'

/** Every task there is, open ones first. */
export const tasksOf = (world: Pick<Stateful, 'view'>): Task[] => {
  const view = world.view()
  return [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .map(({ doc }) => doc)
}

/** The task that was made last; throws where there is none. */
export const newestTask = (world: Pick<Stateful, 'view'>): Task => {
  const [task] = tasksOf(world).sort((a, b) => (a.task_id < b.task_id ? 1 : -1))
  if (!task) throw new Error('there is no task')
  return task
}
