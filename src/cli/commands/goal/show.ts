import { requireOwnGoal } from '../../../governance/goals.js'
import type { VerbDeps } from '../../bound.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { goalFacts, goalFactsShape, goalText, type GoalFacts } from './facts.js'

/** Arguments of `goal show`. */
export interface GoalShowOptions {
  readonly goal: string
}

const definition: VerbDefinition<GoalFacts> = {
  meta: {
    name: 'goal show',
    summary: 'show one goal',
    description: 'Shows one of your goals with its revision.',
    examples: ['$ sallyport goal show goal_0190f…'],
    session: 'required',
    exits: ['unauthorized', 'not_found', 'no_state', 'damaged'],
    json: { version: 1, schema: goalFactsShape },
  },
  flags: (command) => command.argument('<goal>', 'id of the goal'),
  text: (goal) => goalText(goal),
}

/** Shows. */
export const run: Run<GoalShowOptions, GoalFacts> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  return goalFacts(requireOwnGoal(gov.store.read(), session, options.goal))
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<GoalShowOptions, GoalFacts> = run): Verb =>
  defineVerb(deps, definition, doIt)
