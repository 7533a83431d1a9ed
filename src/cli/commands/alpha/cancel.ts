import { alphaCancel } from '../../../alpha/task-contract.js'
import { cancelAnyTask } from '../../../fabric/tasks.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { taskText } from '../../task-text.js'
import { verb } from '../../verb.js'

export const cancel = verb(alphaCancel, {
  summary: 'cancel a text task',
  description:
    'Before contact nothing is sent any more. After contact the charge is still read back and '
    + 'the answer is dropped; a charge that stays unknown blocks the task all the same.',
  examples: ['$ sallyport alpha cancel task_0190f…'],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: taskText,
  run: async (request, deps) => {
    const { gov, session } = await loginToStop(deps)
    const cancelled = await cancelAnyTask(gov, session, request.task)
    await afterStop(deps, gov, cancelled.recorded)
    const view = gov.store.read()
    return { view, task: cancelled.seenIn(view) }
  },
})
