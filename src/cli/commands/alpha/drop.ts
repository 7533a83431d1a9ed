import { alphaDrop, dropInput } from '../../../alpha/ask/kept-input.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Argument of `alpha drop`. */
export interface DropOptions {
  readonly input: string
}

type Dropped = ReturnType<typeof alphaDrop.answer>

const definition: VerbDefinition<Dropped> = {
  meta: {
    name: 'alpha drop',
    summary: 'remove a question that waits for its task',
    description:
      'Removes a question of yours that was handed in over HTTP and of which no task was made, '
      + 'with what it asks. It was never sent. One that has its task is not dropped: cancel that.',
    examples: ['$ sallyport alpha drop art_01890000-0000-7000-8000-000000000000'],
    session: 'required',
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged',
    ],
    json: alphaDrop,
  },
  flags: (command) => command.argument('<input>', 'whole id of the question'),
  text: ({ input_artifact_id: id }) => `${id}: dropped\n`,
}

/** Drops. */
export const run: Run<DropOptions, Dropped> = async (options, deps) => {
  const { input } = requestOf(alphaDrop, options)
  const { gov, session } = await loginToMutate(deps)
  return alphaDrop.answer(await dropInput(gov, session, input))
}

/** Parses a line of `alpha drop`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
