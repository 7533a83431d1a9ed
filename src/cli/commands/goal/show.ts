import { requireOwnGoal } from '../../../governance/goals.js'
import { goalShow } from '../../../governance/goals-contract.js'
import { verb } from '../../verb.js'
import { goalText } from './text.js'

export const show = verb(goalShow, {
  summary: 'show one goal',
  description: 'Shows one of your goals with its revision.',
  examples: ['$ sallyport goal show goal_0190f…'],
  session: 'required',
  ids: { goal: 'goal' },
  damage: 'shows',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  flags: (command) => command.argument('<goal>', 'id of the goal'),
  text: goalText,
  run: async ({ goal }, deps) => {
    const { gov, session } = await deps.login('read')
    return requireOwnGoal(gov.store.read(), session, goal)
  },
})
