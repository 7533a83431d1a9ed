/** A goal as scripts see it. */
import * as v from 'valibot'
import type { Option } from 'commander'
import type { Goal } from '../../../governance/rows.js'
import { integerFlag } from '../../flags.js'
import { fieldLines, visibleLine } from '../../text.js'

/** Shape of a goal in JSON output; fields are only ever added. */
export const goalFactsShape = v.strictObject({
  id: v.string(),
  title: v.string(),
  state: v.picklist(['open', 'closed']),
  revision: v.number(),
  is_default: v.boolean(),
  created_at: v.string(),
  updated_at: v.string(),
})
/** A goal in JSON output. */
export type GoalFacts = v.InferOutput<typeof goalFactsShape>

/** The facts of a goal out of its row. */
export const goalFacts = (goal: Goal): GoalFacts => ({
  id: goal.goal_id,
  title: goal.title,
  state: goal.state,
  revision: goal.revision,
  is_default: goal.is_default,
  created_at: goal.created_at,
  updated_at: goal.updated_at,
})

/** The same as lines of text. */
export const goalText = (goal: GoalFacts): string => fieldLines([
  ['goal', goal.id],
  ['title', visibleLine(goal.title)],
  ['state', goal.is_default ? `${goal.state} (default)` : goal.state],
  ['revision', String(goal.revision)],
  ['updated', goal.updated_at],
])

/** `--expected-revision`: a change of the goal in between is then a conflict. */
export const expectedRevisionFlag = (): Option =>
  integerFlag('--expected-revision <n>', 'refuse if the goal has another revision', {
    min: 1, max: Number.MAX_SAFE_INTEGER,
  })
