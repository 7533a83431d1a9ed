import { taskList } from '../../../fabric/tasks-contract.js'
import type { BoardTaskDocument } from '../../../governance/board/task-document.js'
import { listTasks } from '../../../governance/board/read.js'
import { taskStates, type TaskState } from '../../../governance/rows.js'
import { cutAt } from '../../cut.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Flags of `task list`. */
export interface TaskListOptions {
  readonly limit: number
  readonly open?: boolean
  readonly state?: TaskState
  readonly kind?: string
  readonly goal?: string
  readonly after?: string
}

const definition: VerbDefinition<BoardTaskDocument[]> = {
  meta: {
    name: 'task list',
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
    json: taskList,
  },
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
}

/** Lists. */
export const run: Run<TaskListOptions, BoardTaskDocument[]> = async (options, deps) => {
  const { limit, open, state, kind, goal, after } = requestOf(taskList, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const tasks = listTasks(view, session, {
    limit: limit + 1, openOnly: open === true, state, kind, goalId: goal, after,
  })
  const shown = cutAt(deps, tasks, limit, ({ task_id: id }) => id)
  return taskList.answer(shown.map((task) => ({ view, session, task })))
}

/** Parses a line of `task list`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
