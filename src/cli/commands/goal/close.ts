import { closeGoal } from '../../../governance/goals.js'
import { goalClose, type GoalDocument } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { expectedRevisionFlag, goalText } from './text.js'

/** Flags of `goal close`. */
export interface GoalCloseOptions {
  readonly goal: string
  readonly expectedRevision?: number
}

const definition: VerbDefinition<GoalDocument> = {
  meta: {
    name: 'goal close',
    summary: 'close a goal',
    description:
      'Closes a goal: it takes no more tasks, and what is under way for it is not contacted or '
      + 'adopted any more. The default goal stays open.',
    examples: ['$ sallyport goal close goal_0190f…'],
    session: 'required',
    ids: { goal: 'goal' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: goalClose,
  },
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .addOption(expectedRevisionFlag()),
  text: (goal) => goalText(goal),
}

/** Closes. */
export const run: Run<GoalCloseOptions, GoalDocument> = async (options, deps) => {
  const { goal: goalId, expected_revision: expectedRevision } = requestOf(
    goalClose, options,
  )
  const { gov, session } = await loginToMutate(deps)
  return goalClose.answer(await closeGoal(gov, session, { goalId, expectedRevision }))
}

/** Parses a line of `goal close`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
