import { closeGoal } from '../../../governance/goals.js'
import type { VerbDeps } from '../../bound.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import {
  expectedRevisionFlag, goalFacts, goalFactsShape, goalText, type GoalFacts,
} from './facts.js'

/** Flags of `goal close`. */
export interface GoalCloseOptions {
  readonly goal: string
  readonly expectedRevision?: number
}

const definition: VerbDefinition<GoalFacts> = {
  meta: {
    name: 'goal close',
    summary: 'close a goal',
    description:
      'Closes a goal: it takes no more tasks, and what is under way for it is not contacted or '
      + 'adopted any more. The default goal stays open.',
    examples: ['$ sallyport goal close goal_0190f…'],
    session: 'required',
    exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: goalFactsShape },
  },
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .addOption(expectedRevisionFlag()),
  text: (goal) => goalText(goal),
}

/** Closes. */
export const run: Run<GoalCloseOptions, GoalFacts> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  const { goal: goalId, expectedRevision } = options
  return goalFacts(await closeGoal(gov, session, { goalId, expectedRevision }))
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<GoalCloseOptions, GoalFacts> = run): Verb =>
  defineVerb(deps, definition, doIt)
