import { taskRecover } from '../../../fabric/tasks-contract.js'
import type { BoardTaskDocument } from '../../../governance/board/task-document.js'
import { recoverAnyTask } from '../../../fabric/tasks.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

/** Arguments of `task recover`. */
export interface TaskRecoverOptions {
  readonly task: string
}

const definition: VerbDefinition<BoardTaskDocument> = {
  meta: {
    name: 'task recover',
    summary: 'take over your task from an earlier session of yours',
    description:
      'Lets the session in use read, review and cancel a task that an earlier session of the same '
      + 'owner admitted; the step is audited and moves the anchor. A paid answer that is held for '
      + 'a review can be accepted by it then. It never lets the task be contacted: that needs the '
      + 'session that admitted it. A finished task also follows its goal to the present revision.',
    examples: ['$ sallyport task recover task_0190f…'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: taskRecover,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: (task) => boardTaskText(task),
}

/** Recovers. */
export const run: Run<TaskRecoverOptions, BoardTaskDocument> = async (options, deps) => {
  const request = requestOf(taskRecover, options)
  const { gov, session } = await loginToMutate(deps)
  const task = await recoverAnyTask(gov, session, request.task)
  return taskRecover.answer({ view: gov.store.read(), session, task })
}

/** Parses a line of `task recover`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
