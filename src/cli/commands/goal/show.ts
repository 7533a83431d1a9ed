import { requireOwnGoal } from '../../../governance/goals.js'
import { goalShow, type GoalDocument } from '../../../governance/goals-contract.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { goalText } from './text.js'

/** Arguments of `goal show`. */
export interface GoalShowOptions {
  readonly goal: string
}

const definition: VerbDefinition<GoalDocument> = {
  meta: {
    name: 'goal show',
    summary: 'show one goal',
    description: 'Shows one of your goals with its revision.',
    examples: ['$ sallyport goal show goal_0190f…'],
    session: 'required',
    ids: { goal: 'goal' },
    damage: 'shows',
    exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
    json: goalShow,
  },
  flags: (command) => command.argument('<goal>', 'id of the goal'),
  text: (goal) => goalText(goal),
}

/** Shows. */
export const run: Run<GoalShowOptions, GoalDocument> = async (options, deps) => {
  const { goal } = requestOf(goalShow, options)
  const { gov, session } = await deps.login('read')
  return goalShow.answer(requireOwnGoal(gov.store.read(), session, goal))
}

/** Parses a line of `goal show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
