import { taskClose } from '../../../fabric/tasks-contract.js'
import { closeAnyTask } from '../../../fabric/close-task.js'
import type { BoardTaskDocument } from '../../../governance/board/task-document.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { boardTaskText } from '../../task-text.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments of `task close`. */
export interface TaskCloseOptions {
  readonly task: string
}

const definition: VerbDefinition<BoardTaskDocument> = {
  meta: {
    name: 'task close',
    summary: 'close a task whose unknown charge has been settled',
    description:
      'Ends a task that an unknown charge had blocked, once `ledger settle` has said what it cost: '
      + 'it counts as failed (charge_settled_by_hand) and waits for nobody any more. No answer '
      + 'comes back and nothing is sent. A task of a disabled owner may be closed by any other.',
    examples: ['$ sallyport task close task_0190f…'],
    session: 'required',
    ids: { task: 'task' },
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
      'damaged',
    ],
    json: taskClose,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: (task) => boardTaskText(task),
}

/** Closes. */
export const run: Run<TaskCloseOptions, BoardTaskDocument> = async (options, deps) => {
  const request = requestOf(taskClose, options)
  const { gov, session } = await loginToMutate(deps)
  const task = await closeAnyTask(gov, session, request.task)
  return taskClose.answer({ view: gov.store.read(), session, task })
}

/** Parses a line of `task close`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
