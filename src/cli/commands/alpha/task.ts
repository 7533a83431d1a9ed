import { alphaTask, type AlphaTaskDocument } from '../../../alpha/task-contract.js'
import { receiptLine } from '../../../alpha/receipt.js'
import { requireOwnTask } from '../../../governance/board/read.js'
import { taskText } from '../../task-text.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments of `alpha task`. */
export interface TaskOptions {
  readonly task: string
}

const definition: VerbDefinition<AlphaTaskDocument> = {
  meta: {
    name: 'alpha task',
    summary: 'show one text task and its receipt',
    description: 'Shows state, charge, review and receipt of a task; never question or answer.',
    examples: ['$ sallyport alpha task task_0190f…', '$ sallyport alpha task task_0190f… --json'],
    session: 'required',
    ids: { task: 'task' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
    json: alphaTask,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task, receipt }) =>
    taskText(task) + (receipt === null ? '' : `${receiptLine(receipt)}\n`),
}

/** Reads a task. */
export const run: Run<TaskOptions, AlphaTaskDocument> = async (options, deps) => {
  const request = requestOf(alphaTask, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const task = requireOwnTask(view, session, request.task, { for: 'show' })
  return alphaTask.answer({ view, task })
}

/** Parses a line of `alpha task`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
