import { taskReview } from '../../../fabric/tasks-contract.js'
import type { BoardTaskDocument } from '../../../governance/board/task-document.js'
import { reviewAnyTask } from '../../../fabric/tasks.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import type { VerbRecord } from '../../verb.js'
import { verdictOf, type ReviewOptions } from '../alpha/review.js'
import { boardTaskText } from '../../task-text.js'

export const review: VerbRecord<ReviewOptions, BoardTaskDocument> = {
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
  session: 'required',
  ids: { task: 'task' },
  decides: true,
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  json: taskReview,
  flags: (command) => command
    .argument('<task>', 'id of the task')
    .option('--approve', 'the result serves its goal: done')
    .option('--reject', 'it does not')
    .option('--accept-overrun', 'accept a charge above the request bound')
    .option('--accept-held', 'accept a result that a save made wait'),
  text: boardTaskText,
  run: async (options, deps) => {
    const request = requestOf(taskReview, { ...options, verdict: await verdictOf(options, deps) })
    const { gov, session } = await loginToMutate(deps)
    const task = await reviewAnyTask(gov, session, request.task, request.verdict)
    return taskReview.answer({ view: gov.store.read(), session, task })
  },
}
