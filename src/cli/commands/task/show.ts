import { taskShow } from '../../../fabric/tasks-contract.js'
import { requireOwnTask } from '../../../governance/board/read.js'
import { verb } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

export const show = verb(taskShow, {
  summary: 'show one of your tasks and its receipt',
  description: 'Shows state, charge, review and receipt of a task; never its input or output.',
  examples: ['$ sallyport task show task_0190f…', '$ sallyport task show task_0190f… --json'],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task }) => boardTaskText(task),
  run: async (request, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const task = requireOwnTask(view, session, request.task, { for: 'show' })
    return { view, session, task }
  },
})
