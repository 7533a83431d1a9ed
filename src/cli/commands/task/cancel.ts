import { taskCancel } from '../../../fabric/tasks-contract.js'
import { cancelAnyTask } from '../../../fabric/tasks.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

export const cancel = verb(taskCancel, {
  summary: 'cancel one of your tasks',
  description:
    'Cancels a task at once, or asks the process that works on it to stop at its next step: '
    + 'nothing more is sent, what was sent is settled, and its result is dropped. A task that is '
    + 'blocked on money cannot be cancelled.',
  examples: ['$ sallyport task cancel task_0190f…'],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: boardTaskText,
  run: async (request, deps) => {
    const { gov, session } = await loginToStop(deps)
    const cancelled = await cancelAnyTask(gov, session, request.task)
    await afterStop(deps, gov, cancelled.recorded)
    const view = gov.store.read()
    return { view, session, task: cancelled.seenIn(view) }
  },
})
