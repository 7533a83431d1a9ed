import { alphaTask } from '../../../alpha/task-contract.js'
import { receiptLine } from '../../../alpha/receipt.js'
import { requireOwnTask } from '../../../governance/board/read.js'
import { taskText } from '../../task-text.js'
import { verb } from '../../verb.js'

export const task = verb(alphaTask, {
  summary: 'show one text task and its receipt',
  description: 'Shows state, charge, review and receipt of a task; never question or answer.',
  examples: ['$ sallyport alpha task task_0190f…', '$ sallyport alpha task task_0190f… --json'],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task, receipt }) =>
    taskText(task) + (receipt === null ? '' : `${receiptLine(receipt)}\n`),
  run: async (request, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const task = requireOwnTask(view, session, request.task, { for: 'show' })
    return { view, task }
  },
})
