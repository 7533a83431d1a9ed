/** What was asked of the text capability, and what came of it. */
import { alphaCapability } from '../../../alpha/constants.js'
import { readOutput } from '../../../alpha/output.js'
import { receiptLine } from '../../../alpha/receipt.js'
import { alphaTasks, alphaTask, alphaOutput } from '../../../alpha/task-contract.js'
import { listTasks, requireOwnTask } from '../../../governance/board/read.js'
import { amountCell } from '../../amount.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { taskText } from '../../task-text.js'
import { verb } from '../../verb.js'
import { answerText } from './ask.js'

export const tasks = verb(alphaTasks, {
  summary: 'list your text tasks, newest first',
  description: 'Lists the tasks of the text capability: states, charges, reviews; no content.',
  examples: ['$ sallyport alpha tasks', '$ sallyport alpha tasks --open --json'],
  ids: { after: 'task' },
  exits: ['rejected'],
  flags: (command) => command
    .addOption(integerFlag('--limit <n>', 'most tasks', { min: 1, max: 10_000 }).default(50))
    .option('--open', 'only tasks that are not finished')
    .option('--after <task>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['task', 'state', 'review', 'charged', 'created'],
    rows.map((row) => [
      view.id(row.id), row.blocked ? `blocked (${row.blocked.reason})` : row.state, row.review,
      amountCell(view, row.cost?.charged_microusd ?? null), row.created_at,
    ]),
  ),
  run: async ({ limit, open = false, after }, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const tasks = listTasks(view, session, {
      kind: alphaCapability, limit: limit + 1, openOnly: open, after,
    })
    const shown = cutAt(deps, tasks, limit, ({ task_id: id }) => id)
    return shown.map((task) => ({ view, task }))
  },
})

export const task = verb(alphaTask, {
  summary: 'show one text task and its receipt',
  description: 'Shows state, charge, review and receipt of a task; never question or answer.',
  examples: ['$ sallyport alpha task task_0190f…', '$ sallyport alpha task task_0190f… --json'],
  ids: { task: 'task' },
  exits: ['rejected', 'not_found'],
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

export const output = verb(alphaOutput, {
  summary: 'print the answer and receipt of a task again',
  description:
    'Reads the stored answer of a succeeded task. It contacts nobody. The owner, the session '
    + 'and the goal revision of the task must be current.',
  examples: [
    '$ sallyport alpha output task_0190f…', '$ sallyport alpha output task_0190f… --json',
  ],
  ids: { task: 'task' },
  exits: ['rejected', 'conflict', 'not_found', 'blocked'],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: answerText,
  run: async (request, deps) => {
    const { gov, session } = await deps.login('see')
    await gov.observer.at('ask.output')
    const output = readOutput(gov, session, request.task)
    return { ...output, view: gov.store.read() }
  },
})
