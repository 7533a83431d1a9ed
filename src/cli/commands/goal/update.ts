import { updateGoal } from '../../../governance/goals.js'
import { goalUpdate } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { expectedRevisionFlag, goalText } from './text.js'

export const update = verb(goalUpdate, {
  summary: 'give a goal another title and the next revision',
  description:
    'Changes a goal. Tasks that were admitted under the earlier revision are not contacted or '
    + 'adopted any more; finished ones are readable again after `task recover`.',
  examples: ['$ sallyport goal update goal_0190f… --title "Learn about spring tides"'],
  session: 'required',
  ids: { goal: 'goal' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .requiredOption('--title <title>', 'what it is, in one line')
    .addOption(expectedRevisionFlag()),
  text: goalText,
  run: async ({ goal: goalId, title, expected_revision: expectedRevision }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    return updateGoal(gov, session, { goalId, title, expectedRevision })
  },
})
