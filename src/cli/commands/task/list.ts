import { taskList } from '../../../fabric/tasks-contract.js'
import { listTasks } from '../../../governance/board/read.js'
import { taskStates } from '../../../governance/rows.js'
import { cutAt } from '../../cut.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const list = verb(taskList, {
  summary: 'list your tasks of every kind, newest first',
  description:
    'Lists your own tasks: states, reviews, whether this session may read their output. No '
    + 'content. Tasks of another session of yours are listed, too: `task recover` takes '
    + 'them over.',
  examples: ['$ sallyport task list', '$ sallyport task list --state blocked --json'],
  session: 'required',
  ids: { goal: 'goal', after: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
  flags: (command) => command
    .addOption(integerFlag('--limit <n>', 'most tasks', { min: 1, max: 10_000 }).default(50))
    .option('--open', 'only tasks that are not finished')
    .addOption(choiceFlag('--state <state>', 'only tasks in this state', taskStates))
    .option('--kind <kind>', 'only tasks of this kind')
    .option('--goal <id>', 'only tasks of this goal')
    .option('--after <task>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['task', 'kind', 'state', 'review', 'access', 'created'],
    rows.map((row) => [
      view.id(row.id), row.kind, row.blocked ? `blocked (${row.blocked.reason})` : row.state,
      row.done ? 'done' : row.review, row.access, row.created_at,
    ]),
  ),
  run: async ({ limit, open, state, kind, goal, after }, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const tasks = listTasks(view, session, {
      limit: limit + 1, openOnly: open === true, state, kind, goalId: goal, after,
    })
    const shown = cutAt(deps, tasks, limit, ({ task_id: id }) => id)
    return shown.map((task) => ({ view, session, task }))
  },
})
