import { updateGoal } from '../../../governance/goals.js'
import { goalUpdate, type GoalDocument } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { expectedRevisionFlag, goalText } from './text.js'

/** Flags of `goal update`. */
export interface GoalUpdateOptions {
  readonly goal: string
  readonly title: string
  readonly expectedRevision?: number
}

const definition: VerbDefinition<GoalDocument> = {
  meta: {
    name: 'goal update',
    summary: 'give a goal another title and the next revision',
    description:
      'Changes a goal. Tasks that were admitted under the earlier revision are not contacted or '
      + 'adopted any more; finished ones are readable again after `task recover`.',
    examples: ['$ sallyport goal update goal_0190f… --title "Learn about spring tides"'],
    session: 'required',
    ids: { goal: 'goal' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: goalUpdate,
  },
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .requiredOption('--title <title>', 'what it is, in one line')
    .addOption(expectedRevisionFlag()),
  text: (goal) => goalText(goal),
}

/** Updates. */
export const run: Run<GoalUpdateOptions, GoalDocument> = async (options, deps) => {
  const { goal: goalId, title, expected_revision: expectedRevision } = requestOf(
    goalUpdate, options,
  )
  const { gov, session } = await loginToMutate(deps)
  return goalUpdate.answer(await updateGoal(gov, session, { goalId, title, expectedRevision }))
}

/** Parses a line of `goal update`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
