import * as v from 'valibot'
import { getJob, requireOwnTask } from '../../../governance/board/read.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { boardTask, boardTaskShape, boardTaskText } from './facts.js'

/** Arguments of `task show`. */
export interface TaskShowOptions {
  readonly task: string
}

const schema = v.strictObject({
  task: boardTaskShape,
  /** The receipt of the task's own capability, with its own schema name. */
  receipt: v.nullable(v.record(v.string(), v.unknown())),
})
/** Result of `task show`. */
export type TaskShow = v.InferOutput<typeof schema>

const definition: VerbDefinition<TaskShow> = {
  meta: {
    name: 'task show',
    summary: 'show one of your tasks and its receipt',
    description: 'Shows state, charge, review and receipt of a task; never its input or output.',
    examples: ['$ sallyport task show task_0190f…', '$ sallyport task show task_0190f… --json'],
    session: 'required',
    exits: ['unauthorized', 'not_found', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task }) => boardTaskText(task),
}

/** Shows. */
export const run: Run<TaskShowOptions, TaskShow> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  const view = gov.store.read()
  const task = requireOwnTask(view, session, options.task, { for: 'show' })
  return { task: boardTask(view, session, task), receipt: getJob(view, task).receipt }
}

/** Parses a line of `task show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
