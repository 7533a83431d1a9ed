import { addGoal } from '../../../governance/goals.js'
import { goalAdd, type GoalDocument } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { goalText } from './text.js'

/** Arguments of `goal add`. */
export interface GoalAddOptions {
  readonly title: string
}

const definition: VerbDefinition<GoalDocument> = {
  meta: {
    name: 'goal add',
    summary: 'add a goal',
    description:
      'Adds a goal that tasks can be given to. Its title is one line, 1 to 200 characters.',
    examples: ['$ sallyport goal add "Learn about tides"'],
    session: 'required',
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'no_state', 'locked', 'damaged'],
    json: goalAdd,
  },
  flags: (command) => command.argument('<title>', 'what it is, in one line'),
  text: (goal) => goalText(goal),
}

/** Adds. */
export const run: Run<GoalAddOptions, GoalDocument> = async (options, deps) => {
  const { title } = requestOf(goalAdd, options)
  const { gov, session } = await loginToMutate(deps)
  return goalAdd.answer(await addGoal(gov, session, title))
}

/** Parses a line of `goal add`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
