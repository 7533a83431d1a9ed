import { alphaOutput, type AnswerDocument } from '../../../alpha/task-contract.js'
import { readOutput } from '../../../alpha/output.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { answerText } from './ask.js'

/** Arguments of `alpha output`. */
export interface OutputOptions {
  readonly task: string
}

const definition: VerbDefinition<AnswerDocument> = {
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
    ids: { task: 'task' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: alphaOutput,
  },
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: answerText,
}

/** Reads an answer. */
export const run: Run<OutputOptions, AnswerDocument> = async (options, deps) => {
  const request = requestOf(alphaOutput, options)
  const { gov, session } = await deps.login('see')
  await gov.observer.at('ask.output')
  const output = readOutput(gov, session, request.task)
  return alphaOutput.answer({ ...output, view: gov.store.read() })
}

/** Parses a line of `alpha output`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
