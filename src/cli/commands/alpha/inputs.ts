import { alpha } from '../../../fabric/operations/alpha.js'
import { renderTable } from '../../table.js'
import { verbOf } from '../../verb-of.js'

export const inputs = verbOf(alpha.inputs, {
  summary: 'your questions that wait for their task, oldest first',
  description:
    'Lists the questions handed in over HTTP that have no task yet. You see ids and when each is '
    + 'removed by itself, never what it asks. At most 16 of an owner wait; `alpha drop` removes '
    + 'one.',
  examples: ['$ sallyport alpha inputs', '$ sallyport alpha inputs --json'],
  // Whole ids: an artifact has no short one.
  text: (waiting, view) => (waiting.length === 0 ? 'No question waits for its task.\n'
    : renderTable(view, ['input', 'removed at'],
      waiting.map((one) => [one.input_artifact_id, view.time(one.expires_at)]))),
})

export const drop = verbOf(alpha.drop, {
  summary: 'remove a question that waits for its task',
  description:
    'Removes a question of yours that was handed in over HTTP and of which no task was made, '
    + 'with what it asks. It was never sent. One that has its task is not dropped: cancel that.',
  examples: ['$ sallyport alpha drop art_01890000-0000-7000-8000-000000000000'],
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  flags: (command) => command.argument('<input>', 'whole id of the question'),
  text: ({ input_artifact_id: id }) => `${id}: dropped\n`,
})
