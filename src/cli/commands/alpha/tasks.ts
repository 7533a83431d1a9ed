import { alphaTasks } from '../../../alpha/task-contract.js'
import { alphaCapability } from '../../../alpha/constants.js'
import { listTasks } from '../../../governance/board/read.js'
import { amountCell } from '../../amount.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const tasks = verb(alphaTasks, {
  summary: 'list your text tasks, newest first',
  description: 'Lists the tasks of the text capability: states, charges, reviews; no content.',
  examples: ['$ sallyport alpha tasks', '$ sallyport alpha tasks --open --json'],
  session: 'required',
  ids: { after: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
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
