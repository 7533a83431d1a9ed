import * as v from 'valibot'
import { receiptOf } from '../../../alpha/output.js'
import { alphaReceiptShape, receiptLine } from '../../../alpha/receipt.js'
import { getJob, requireOwnTask } from '../../../governance/board/read.js'
import { taskFacts, taskFactsShape, taskText } from '../../task-facts.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments of `alpha task`. */
export interface TaskOptions {
  readonly task: string
}

const schema = v.strictObject({ task: taskFactsShape, receipt: v.nullable(alphaReceiptShape) })
/** Result of `alpha task`. */
export type AlphaTaskResult = v.InferOutput<typeof schema>

const definition: VerbDefinition<AlphaTaskResult> = {
  meta: {
    name: 'alpha task',
    summary: 'show one text task and its receipt',
    description: 'Shows state, charge, review and receipt of a task; never question or answer.',
    examples: ['$ sallyport alpha task task_0190f…', '$ sallyport alpha task task_0190f… --json'],
    session: 'required',
    exits: ['unauthorized', 'not_found', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: ({ task, receipt }) =>
    taskText(task) + (receipt === null ? '' : `${receiptLine(receipt)}\n`),
}

/** Reads a task. */
export const run: Run<TaskOptions, AlphaTaskResult> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  const view = gov.store.read()
  const task = requireOwnTask(view, session, options.task, { for: 'show' })
  return { task: taskFacts(view, task), receipt: receiptOf(getJob(view, task).receipt) }
}

/** Parses a line of `alpha task`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
