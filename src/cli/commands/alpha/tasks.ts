import { alphaTasks } from '../../../alpha/task-contract.js'
import type { TaskDocument } from '../../../governance/board/task-document.js'
import { alphaCapability } from '../../../alpha/constants.js'
import { listTasks } from '../../../governance/board/read.js'
import { amountCell } from '../../amount.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Flags of `alpha tasks`. */
export interface TasksOptions {
  readonly limit: number
  readonly open?: boolean
}

const definition: VerbDefinition<TaskDocument[]> = {
  meta: {
    name: 'alpha tasks',
    summary: 'list your text tasks, newest first',
    description: 'Lists the tasks of the text capability: states, charges, reviews; no content.',
    examples: ['$ sallyport alpha tasks', '$ sallyport alpha tasks --open --json'],
    session: 'required',
    ids: { after: 'task' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
    json: alphaTasks,
  },
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
}

/** Lists. */
export const run: Run<TasksOptions, TaskDocument[]> = async (options, deps) => {
  const { limit, open = false, after } = requestOf(alphaTasks, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const tasks = listTasks(view, session, {
    kind: alphaCapability, limit: limit + 1, openOnly: open, after,
  })
  const shown = cutAt(deps, tasks, limit, ({ task_id: id }) => id)
  return alphaTasks.answer(shown.map((task) => ({ view, task })))
}

/** Parses a line of `alpha tasks`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
