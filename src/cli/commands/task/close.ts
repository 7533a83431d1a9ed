import { taskClose } from '../../../fabric/tasks-contract.js'
import { closeAnyTask } from '../../../fabric/close-task.js'
import { loginToMutate } from '../../mutate.js'
import { boardTaskText } from '../../task-text.js'
import { verb } from '../../verb.js'

export const close = verb(taskClose, {
  summary: 'close a task whose unknown charge has been settled',
  description:
    'Ends a task that an unknown charge had blocked, once `ledger settle` has said what it cost: '
    + 'it counts as failed (charge_settled_by_hand) and waits for nobody any more. No answer '
    + 'comes back and nothing is sent. A task of a disabled owner may be closed by any other.',
  examples: ['$ sallyport task close task_0190f…'],
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
    const { gov, session } = await loginToMutate(deps)
    const task = await closeAnyTask(gov, session, request.task)
    return { view: gov.store.read(), session, task }
  },
})
