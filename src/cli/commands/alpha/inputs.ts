import { alphaInputs, waitingInputs } from '../../../alpha/ask/kept-input.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

type Listed = ReturnType<typeof alphaInputs.answer>

const definition: VerbDefinition<Listed> = {
  meta: {
    name: 'alpha inputs',
    summary: 'your questions that wait for their task, oldest first',
    description:
      'Lists the questions that were handed in over HTTP and of which no task was made yet: ids '
      + 'and when each is removed by itself, never what it asks. At most 16 of an owner wait; '
      + '`alpha drop` removes one.',
    examples: ['$ sallyport alpha inputs', '$ sallyport alpha inputs --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: alphaInputs,
  },
  // Whole ids: an artifact has no short one.
  text: (waiting, view) => (waiting.length === 0 ? 'No question waits for its task.\n'
    : renderTable(view, ['input', 'removed at'],
      waiting.map((one) => [one.input_artifact_id, one.expires_at]))),
}

/** Lists. */
export const run: Run<object, Listed> = async (_options, deps) => {
  const { gov, session } = await deps.login('read')
  return alphaInputs.answer(waitingInputs(gov, gov.store.read(), session))
}

/** Parses a line of `alpha inputs`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
