import { addGoal } from '../../../governance/goals.js'
import type { VerbDeps } from '../../bound.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { goalFacts, goalFactsShape, goalText, type GoalFacts } from './facts.js'

/** Arguments of `goal add`. */
export interface GoalAddOptions {
  readonly title: string
}

const definition: VerbDefinition<GoalFacts> = {
  meta: {
    name: 'goal add',
    summary: 'add a goal',
    description:
      'Adds a goal that tasks can be given to. Its title is one line, 1 to 200 characters.',
    examples: ['$ sallyport goal add "Learn about tides"'],
    session: 'required',
    exits: ['rejected', 'unauthorized', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: goalFactsShape },
  },
  flags: (command) => command.argument('<title>', 'what it is, in one line'),
  text: (goal) => goalText(goal),
}

/** Adds. */
export const run: Run<GoalAddOptions, GoalFacts> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  return goalFacts(await addGoal(gov, session, options.title))
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<GoalAddOptions, GoalFacts> = run): Verb =>
  defineVerb(deps, definition, doIt)
