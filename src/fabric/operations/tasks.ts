import { listTasks, requireOwnTask } from '../../governance/board/visible-tasks.js'
import { operation, firstPart } from '../operation.js'
import {
  taskCancel, taskClose, taskList, taskRecoverAll, taskRecoverOne, taskReview, taskShow,
} from '../tasks-contract.js'

/** The work board. What decides knows every capability, and is loaded at use. */
export const tasks = {
  list: operation(taskList, 'see', (work, { limit, open, goal, ...filter }) => {
    const { gov, session } = work
    const view = gov.store.read()
    return firstPart(work, limit, (most) => listTasks(view, session, {
      ...filter, limit: most, openOnly: open, goalId: goal,
    }), (task) => task.task_id).map((task) => ({ view, session, task }))
  }),
  show: operation(taskShow, 'see', ({ gov, session }, request) => {
    const view = gov.store.read()
    return { view, session, task: requireOwnTask(view, session, request.task, { for: 'show' }) }
  }),
  review: operation(taskReview, 'mutate', async ({ gov, session }, request) => {
    const { reviewAnyTask } = await import('../tasks.js')
    const task = await reviewAnyTask(gov, session, request.task, request.verdict)
    return { view: gov.store.read(), session, task }
  }),
  cancel: operation(taskCancel, 'stop', async ({ gov, session, stopped }, request) => {
    const { cancelAnyTask } = await import('../tasks.js')
    const { recorded, seenIn, told } = await cancelAnyTask(gov, session, request.task)
    await stopped(recorded)
    const view = gov.store.read()
    return { view, session, task: seenIn(view), told }
  }),
  recover: operation(taskRecoverOne, 'mutate', async ({ gov, session }, request) => {
    const { recoverAnyTask } = await import('../tasks.js')
    const task = await recoverAnyTask(gov, session, request.task)
    return { view: gov.store.read(), session, task }
  }),
  recoverAll: operation(taskRecoverAll, 'mutate', async ({ gov, session }) => {
    const { recoverAllTasks } = await import('../tasks.js')
    return recoverAllTasks(gov, session)
  }),
  close: operation(taskClose, 'mutate', async ({ gov, session }, request) => {
    const { closeAnyTask } = await import('../close-task.js')
    const task = await closeAnyTask(gov, session, request.task)
    return { view: gov.store.read(), session, task }
  }),
}
