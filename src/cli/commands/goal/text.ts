/** A goal as text, and the flag that several of its verbs take. */
import type { Option } from 'commander'
import type { GoalDocument } from '../../../governance/goals-contract.js'
import { integerFlag } from '../../flags.js'
import { fieldLines, visibleLine } from '../../text.js'

/** A goal as lines of text. */
export const goalText = (goal: GoalDocument): string => fieldLines([
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
