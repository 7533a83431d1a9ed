import { taskShow, type TaskShowDocument } from '../../../fabric/tasks-contract.js'
import { requireOwnTask } from '../../../governance/board/read.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

/** Arguments of `task show`. */
export interface TaskShowOptions {
  readonly task: string
}

const definition: VerbDefinition<TaskShowDocument> = {
  meta: {
    name: 'task show',
    summary: 'show one of your tasks and its receipt',
    description: 'Shows state, charge, review and receipt of a task; never its input or output.',
    examples: ['$ sallyport task show task_0190f…', '$ sallyport task show task_0190f… --json'],
    session: 'required',
    ids: { task: 'task' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
    json: taskShow,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task }) => boardTaskText(task),
}

/** Shows. */
export const run: Run<TaskShowOptions, TaskShowDocument> = async (options, deps) => {
  const request = requestOf(taskShow, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const task = requireOwnTask(view, session, request.task, { for: 'show' })
  return taskShow.answer({ view, session, task })
}

/** Parses a line of `task show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
