import { cancelAnyTask } from '../../../fabric/tasks.js'
import { loginToMutate } from '../../mutate.js'
import { taskFacts, taskFactsShape, taskText, type TaskFacts } from '../../task-facts.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments of `alpha cancel`. */
export interface CancelOptions {
  readonly task: string
}

const definition: VerbDefinition<TaskFacts> = {
  meta: {
    name: 'alpha cancel',
    summary: 'cancel a text task',
    description:
      'Before contact nothing is sent any more. After contact the charge is still read back and '
      + 'the answer is dropped; a charge that stays unknown blocks the task all the same.',
    examples: ['$ sallyport alpha cancel task_0190f…'],
    session: 'required',
    exits: ['unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: taskFactsShape },
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: (task) => taskText(task),
}

/** Cancels. */
export const run: Run<CancelOptions, TaskFacts> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  return taskFacts(gov.store.read(), await cancelAnyTask(gov, session, options.task))
}

/** Parses a line of `alpha cancel`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
