/** `sallyport goal`: what tasks are for. */
import type { Option } from 'commander'
import { operation, wholeOrPart } from '../../../fabric/operation.js'
import {
  goalAdd, goalList, goalShow, goalUpdate, goalClose, type GoalDocument,
} from '../../../governance/goals-contract.js'
import {
  addGoal, listGoals, requireOwnGoal, updateGoal, closeGoal,
} from '../../../governance/goals.js'
import { numberFlag, partFlag } from '../../flags.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import { fieldLines, visibleLine } from '../../text.js'
import { verbOf } from '../../verb-of.js'

const goalText = (goal: GoalDocument, view: View): string => fieldLines([
  ['goal', goal.id],
  ['title', visibleLine(goal.title)],
  ['state', goal.is_default ? `${goal.state} (default)` : goal.state],
  ['revision', String(goal.revision)],
  ['updated', view.time(goal.updated_at)],
])

/** `--expected-revision`: a change of the goal in between is then a conflict. */
const expectedRevisionFlag = (): Option =>
  numberFlag('--expected-revision <n>', 'refuse if the goal has another revision')

export const add = verbOf(operation(goalAdd, 'mutate', ({ gov, session }, { title }) =>
  addGoal(gov, session, title)), {
  summary: 'add a goal',
  description:
    'Adds a goal that tasks can be given to. Its title is one line, 1 to 200 characters.',
  examples: ['$ sallyport goal add "Learn about tides"'],
  exits: ['rejected', 'locked'],
  flags: (command) => command.argument('<title>', 'what it is, in one line'),
  text: goalText,
})

export const list = verbOf(operation(goalList, 'read', (work, { limit, ...filter }) => {
  const view = work.gov.store.read()
  return wholeOrPart(work, limit, (most) =>
    listGoals(view, work.session, { ...filter, limit: most }), ({ goal_id: id }) => id, 'oldest')
}), {
  summary: 'list your goals, oldest first',
  description: 'Lists your goals. Tasks that name none belong to the default goal.',
  examples: ['$ sallyport goal list', '$ sallyport goal list --open --json'],
  ids: { after: 'goal' },
  damage: 'shows',
  exits: ['rejected'],
  flags: (command) => command
    .option('--open', 'only goals that are open')
    .addOption(partFlag('most goals; all of them unless given'))
    .option('--after <goal>', 'only those younger than this one'),
  text: (rows, view) => renderTable(
    view, ['goal', 'state', 'revision', 'default', 'title'],
    rows.map((row) => [
      view.id(row.id), row.state, String(row.revision), row.is_default ? 'yes' : 'no', row.title,
    ]),
  ),
})

export const show = verbOf(operation(goalShow, 'read', ({ gov, session }, { goal }) =>
  requireOwnGoal(gov.store.read(), session, goal)), {
  summary: 'show one goal',
  description: 'Shows one of your goals with its revision.',
  examples: ['$ sallyport goal show goal_0190f…'],
  of: 'goal',
  damage: 'shows',
  exits: ['rejected', 'not_found'],
  text: goalText,
})

export const update = verbOf(operation(goalUpdate, 'mutate', ({ gov, session }, request) =>
  updateGoal(gov, session, {
    goalId: request.goal, title: request.title, expectedRevision: request.expected_revision,
  })), {
  summary: 'give a goal another title and the next revision',
  description:
    'Changes a goal. Tasks that were admitted under the earlier revision are not sent or '
    + 'used any more; finished ones are readable again after `task recover`.',
  examples: ['$ sallyport goal update goal_0190f… --title "Learn about spring tides"'],
  of: 'goal',
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  flags: (command) => command
    .requiredOption('--title <title>', 'what it is, in one line')
    .addOption(expectedRevisionFlag()),
  text: goalText,
})

export const close = verbOf(operation(goalClose, 'mutate', ({ gov, session }, request) =>
  closeGoal(gov, session, { goalId: request.goal, expectedRevision: request.expected_revision })), {
  summary: 'close a goal',
  description:
    'Closes a goal: it takes no more tasks, and what is under way for it is not sent or '
    + 'used any more. The default goal stays open.',
  examples: ['$ sallyport goal close goal_0190f…'],
  of: 'goal',
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  flags: (command) => command.addOption(expectedRevisionFlag()),
  text: goalText,
})
