import { alphaCancel } from '../../../alpha/task-contract.js'
import type { TaskDocument } from '../../../governance/board/task-document.js'
import { cancelAnyTask } from '../../../fabric/tasks.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { taskText } from '../../task-text.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments of `alpha cancel`. */
export interface CancelOptions {
  readonly task: string
}

const definition: VerbDefinition<TaskDocument> = {
  meta: {
    name: 'alpha cancel',
    summary: 'cancel a text task',
    description:
      'Before contact nothing is sent any more. After contact the charge is still read back and '
      + 'the answer is dropped; a charge that stays unknown blocks the task all the same.',
    examples: ['$ sallyport alpha cancel task_0190f…'],
    session: 'required',
    ids: { task: 'task' },
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
      'damaged',
    ],
    json: alphaCancel,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: (task) => taskText(task),
}

/** Cancels. */
export const run: Run<CancelOptions, TaskDocument> = async (options, deps) => {
  const request = requestOf(alphaCancel, options)
  const { gov, session } = await loginToStop(deps)
  const cancelled = await cancelAnyTask(gov, session, request.task)
  await afterStop(deps, gov, cancelled.recorded)
  const view = gov.store.read()
  return alphaCancel.answer({ view, task: cancelled.seenIn(view), told: cancelled.told })
}

/** Parses a line of `alpha cancel`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
