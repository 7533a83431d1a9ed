import { updateGoal } from '../../../governance/goals.js'
import type { VerbDeps } from '../../bound.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import {
  expectedRevisionFlag, goalFacts, goalFactsShape, goalText, type GoalFacts,
} from './facts.js'

/** Flags of `goal update`. */
export interface GoalUpdateOptions {
  readonly goal: string
  readonly title: string
  readonly expectedRevision?: number
}

const definition: VerbDefinition<GoalFacts> = {
  meta: {
    name: 'goal update',
    summary: 'give a goal another title and the next revision',
    description:
      'Changes a goal. Tasks that were admitted under the earlier revision are not contacted or '
      + 'adopted any more; finished ones are readable again after `task recover`.',
    examples: ['$ sallyport goal update goal_0190f… --title "Learn about spring tides"'],
    session: 'required',
    exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: goalFactsShape },
  },
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .requiredOption('--title <title>', 'what it is, in one line')
    .addOption(expectedRevisionFlag()),
  text: (goal) => goalText(goal),
}

/** Updates. */
export const run: Run<GoalUpdateOptions, GoalFacts> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  const { goal: goalId, title, expectedRevision } = options
  return goalFacts(await updateGoal(gov, session, { goalId, title, expectedRevision }))
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<GoalUpdateOptions, GoalFacts> = run): Verb =>
  defineVerb(deps, definition, doIt)
