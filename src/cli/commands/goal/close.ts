import { closeGoal } from '../../../governance/goals.js'
import { goalClose } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { expectedRevisionFlag, goalText } from './text.js'

export const close = verb(goalClose, {
  summary: 'close a goal',
  description:
    'Closes a goal: it takes no more tasks, and what is under way for it is not contacted or '
    + 'adopted any more. The default goal stays open.',
  examples: ['$ sallyport goal close goal_0190f…'],
  session: 'required',
  ids: { goal: 'goal' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command
    .argument('<goal>', 'id of the goal')
    .addOption(expectedRevisionFlag()),
  text: goalText,
  run: async ({ goal: goalId, expected_revision: expectedRevision }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    return closeGoal(gov, session, { goalId, expectedRevision })
  },
})
