import { readOutput } from '../../../alpha/output.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { answerSchema, answerText, type AnswerResult } from './ask.js'
import { taskFacts } from '../../task-facts.js'

/** Arguments of `alpha output`. */
export interface OutputOptions {
  readonly task: string
}

const definition: VerbDefinition<AnswerResult> = {
  meta: {
    name: 'alpha output',
    summary: 'print the answer and receipt of a task again',
    description:
      'Reads the stored answer of a succeeded task. It contacts nobody. The owner, the session '
      + 'and the goal revision of the task must be current.',
    examples: [
      '$ sallyport alpha output task_0190f…', '$ sallyport alpha output task_0190f… --json',
    ],
    session: 'required',
    exits: ['unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: { version: 1, schema: answerSchema },
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: answerText,
}

/** Reads an answer. */
export const run: Run<OutputOptions, AnswerResult> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  await gov.observer.at('ask.output')
  const { task, answer, receipt } = readOutput(gov, session, options.task)
  return { task: taskFacts(gov.store.read(), task), answer, receipt }
}

/** Parses a line of `alpha output`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
