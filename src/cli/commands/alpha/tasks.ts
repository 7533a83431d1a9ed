/** What was asked of the text capability, and what came of it. */
import { alphaCapability } from '../../../alpha/constants.js'
import { receiptLine } from '../../../alpha/receipt.js'
import { alphaTasks, alphaTask } from '../../../alpha/task-contract.js'
import { operation } from '../../../fabric/operation.js'
import { alpha } from '../../../fabric/operations/alpha.js'
import { tasks as board } from '../../../fabric/operations/tasks.js'
import { amountCell } from '../../amount.js'
import { limitFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { taskText } from '../../task-text.js'
import { verbOf } from '../../verb-of.js'
import { answerText } from './ask.js'

export const tasks = verbOf(operation(alphaTasks, 'see', (work, request) =>
  board.list.run(work, { ...request, kind: alphaCapability })), {
  summary: 'list your text tasks, newest first',
  description: 'Lists the tasks of the text capability: states, charges, reviews; no content.',
  examples: ['$ sallyport alpha tasks', '$ sallyport alpha tasks --open --json'],
  ids: { after: 'task' },
  exits: ['rejected'],
  flags: (command) => command
    .addOption(limitFlag('most tasks'))
    .option('--open', 'only tasks that are not finished')
    .option('--after <task>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['task', 'state', 'review', 'charged', 'created'],
    rows.map((row) => [
      view.id(row.id), row.blocked ? `blocked (${row.blocked.reason})` : row.state, row.review,
      amountCell(view, row.cost?.charged_microusd ?? null), view.time(row.created_at),
    ]),
  ),
})

export const task = verbOf({ ...board.show, contract: alphaTask }, {
  summary: 'show one text task and its receipt',
  description: 'Shows state, charge, review and receipt of a task; never question or answer.',
  examples: ['$ sallyport alpha task task_0190f…', '$ sallyport alpha task task_0190f… --json'],
  of: 'task',
  exits: ['rejected', 'not_found'],
  text: ({ task, receipt }, view) =>
    taskText(task, view) + (receipt === null ? '' : `${receiptLine(receipt)}\n`),
})

export const output = verbOf(alpha.output, {
  summary: 'print the answer and receipt of a task again',
  description:
    'Reads the stored answer of a succeeded task. It contacts nobody. The owner, the session '
    + 'and the goal revision of the task must be current.',
  examples: [
    '$ sallyport task show task_0190f… --output',
    '$ sallyport task show task_0190f… --output --json',
  ],
  of: 'task',
  exits: ['rejected', 'conflict', 'not_found', 'blocked'],
  text: answerText,
})
