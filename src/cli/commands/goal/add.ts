import { addGoal } from '../../../governance/goals.js'
import { goalAdd } from '../../../governance/goals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { goalText } from './text.js'

export const add = verb(goalAdd, {
  summary: 'add a goal',
  description:
    'Adds a goal that tasks can be given to. Its title is one line, 1 to 200 characters.',
  examples: ['$ sallyport goal add "Learn about tides"'],
  session: 'required',
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'no_state', 'locked', 'damaged'],
  flags: (command) => command.argument('<title>', 'what it is, in one line'),
  text: goalText,
  run: async ({ title }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    return addGoal(gov, session, title)
  },
})
