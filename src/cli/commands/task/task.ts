/** `sallyport task`: the work board. */
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { tasks } from '../../../fabric/operations/tasks.js'
import { taskRecover } from '../../../fabric/tasks-contract.js'
import { taskStates } from '../../../governance/rows.js'
import { choiceFlag, limitFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { boardTaskText } from '../../task-text.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { workFor } from '../../work.js'
import { withVerdict } from '../alpha/review.js'

export const list = verbOf(tasks.list, {
  summary: 'list your tasks of every kind, newest first',
  description:
    'Lists your own tasks: states, reviews, whether this session may read their output. No '
    + 'content. Tasks of another session of yours are listed, too: `task recover` takes '
    + 'them over.',
  examples: ['$ sallyport task list', '$ sallyport task list --state blocked --json'],
  ids: { goal: 'goal', after: 'task' },
  exits: ['rejected'],
  flags: (command) => command
    .addOption(limitFlag('most tasks'))
    .option('--open', 'only tasks that are not finished')
    .addOption(choiceFlag('--state <state>', 'only tasks in this state', taskStates))
    .option('--kind <kind>', 'only tasks of this kind')
    .option('--goal <id>', 'only tasks of this goal')
    .option('--after <task>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['task', 'kind', 'state', 'review', 'access', 'created'],
    rows.map((row) => [
      view.id(row.id), row.kind, row.blocked ? `blocked (${row.blocked.reason})` : row.state,
      row.done ? 'done' : row.review, row.access, view.time(row.created_at),
    ]),
  ),
})

export const show = verbOf(tasks.show, {
  summary: 'show one of your tasks and its receipt',
  description:
    'Shows state, charge, review and receipt of a task; never its input. With --output it prints '
    + 'the stored answer of a question, and its receipt. The owner, the session and the goal '
    + 'revision of the task must be current then. It contacts nobody.',
  examples: [
    '$ sallyport task show task_0190f…', '$ sallyport task show task_0190f… --json',
    '$ sallyport task show task_0190f… --output',
  ],
  of: 'task',
  exits: ['rejected', 'not_found'],
  flags: (command) => command.option('--output', 'the answer of a question again'),
  joins: [{
    by: '--output', load: async () => (await import('../alpha/tasks.js')).output,
    line: ({ output: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: ({ task }, view) => boardTaskText(task, view),
})

export const review = verbOf(tasks.review, {
  summary: 'approve or reject what a task gave',
  description:
    'Approving makes a succeeded task done; rejecting leaves it succeeded and never done; what '
    + 'it cost stands either way. --accept-overrun releases a result whose charge passed its '
    + 'bound, --accept-held one that waits because a save was under way when it came. A task '
    + 'whose charge is not known cannot be reviewed.',
  examples: [
    '$ sallyport task review task_0190f… --approve',
    '$ sallyport task review task_0190f… --reject --json',
  ],
  of: 'task',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  flags: (command) => command
    .option('--approve', 'the result serves its goal: done')
    .option('--reject', 'it does not')
    .option('--accept-overrun', 'accept a charge above the request bound')
    .option('--accept-held', 'accept a result that a save kept waiting'),
  text: boardTaskText,
  complete: withVerdict,
})

export const cancel = verbOf(tasks.cancel, {
  summary: 'cancel one of your tasks',
  description:
    'Cancels a task at once, or asks the process that works on it to stop at its next step. '
    + 'Nothing more is sent, what was sent is settled, and its result is dropped. A task that '
    + 'is blocked on money cannot be cancelled.',
  examples: ['$ sallyport task cancel task_0190f…'],
  of: 'task',
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  text: boardTaskText,
})

const allText = (count: number): string => count === 0
  ? 'No finished task of yours belongs to a session that is over.\n'
  : `${countText(count, 'finished task')} of yours ${count === 1 ? 'belongs' : 'belong'} to this `
    + 'session now.\n'

export const recover = verb(taskRecover, {
  summary: 'take over your tasks from an earlier session of yours',
  description:
    'Lets the session in use read, review and cancel a task that an earlier session of the '
    + 'same owner admitted. The step is audited and moves the anchor. A paid answer that is '
    + 'held for a review can be accepted by it then. It never sends the task: only the '
    + 'session that admitted it can do that. A finished task also follows its goal to the '
    + 'present revision. With --all every finished task of yours is taken over in one audited '
    + 'act. Those of another session that lives are taken over one by one. So are those that '
    + 'are under way, wait to be started or whose charge is not known.',
  examples: ['$ sallyport task recover task_0190f…', '$ sallyport task recover --all'],
  ids: { task: 'task' },
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  flags: (command) => command
    .argument('[task]', 'id of the task')
    .option('--all', 'every finished task of yours'),
  text: (found, view) => 'id' in found ? boardTaskText(found, view) : allText(found.recovered),
  run: async ({ task: id, all = false }, deps) => {
    if (all !== (id === undefined)) {
      throw fail.usage('one_task_or_all', 'Name one task, or give --all.', {
        next: 'Run `sallyport task list`, or `sallyport task recover --all`.',
      })
    }
    const work = await workFor(deps, 'mutate')
    return id === undefined ? tasks.recoverAll.run(work, {}) : tasks.recover.run(work, { task: id })
  },
})

export const close = verbOf(tasks.close, {
  summary: 'close a task whose unknown charge has been settled',
  description:
    'Ends a task that an unknown charge had blocked, once `ledger settle` has said what it '
    + 'cost. It counts as failed (charge_settled_by_hand) and waits for nobody any more. No '
    + 'answer comes back and nothing is sent. A task of a disabled owner may be closed by any '
    + 'other.',
  examples: ['$ sallyport task close task_0190f…'],
  of: 'task',
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  text: boardTaskText,
})
