import { taskCancel } from '../../../fabric/tasks-contract.js'
import type { BoardTaskDocument } from '../../../governance/board/task-document.js'
import { cancelAnyTask } from '../../../fabric/tasks.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

/** Arguments of `task cancel`. */
export interface TaskCancelOptions {
  readonly task: string
}

const definition: VerbDefinition<BoardTaskDocument> = {
  meta: {
    name: 'task cancel',
    summary: 'cancel one of your tasks',
    description:
      'Cancels a task at once, or asks the process that works on it to stop at its next step: '
      + 'nothing more is sent, what was sent is settled, and its result is dropped. A task that is '
      + 'blocked on money cannot be cancelled.',
    examples: ['$ sallyport task cancel task_0190f…'],
    session: 'required',
    ids: { task: 'task' },
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
      'damaged',
    ],
    json: taskCancel,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: (task) => boardTaskText(task),
}

/** Cancels. */
export const run: Run<TaskCancelOptions, BoardTaskDocument> = async (options, deps) => {
  const request = requestOf(taskCancel, options)
  const { gov, session } = await loginToStop(deps)
  const cancelled = await cancelAnyTask(gov, session, request.task)
  await afterStop(deps, gov, cancelled.recorded)
  const view = gov.store.read()
  return taskCancel.answer({
    view, session, task: cancelled.seenIn(view), told: cancelled.told,
  })
}

/** Parses a line of `task cancel`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
