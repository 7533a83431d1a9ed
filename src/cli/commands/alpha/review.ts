import { alphaReview } from '../../../alpha/task-contract.js'
import type { TaskDocument } from '../../../governance/board/task-document.js'
import { fail } from '../../../base/errors.js'
import { reviewAnyTask } from '../../../fabric/tasks.js'
import type { TaskVerdict } from '../../../fabric/tasks-contract.js'
import { askVerdict } from '../../ask-verdict.js'
import { loginToMutate } from '../../mutate.js'
import { taskText } from '../../task-text.js'
import { requestOf } from '../../request.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'

/** Flags of `alpha review`. */
export interface ReviewOptions {
  readonly task: string
  readonly approve?: boolean
  readonly reject?: boolean
  readonly acceptOverrun?: boolean
  readonly acceptHeld?: boolean
}

const verdicts = ['approve', 'reject', 'accept-overrun', 'accept-held'] as const

/**
 * The one verdict that was given; on a terminal it is asked for where none was. Throws `usage` for
 * none or several, and `cancelled` where a person leaves it at that.
 */
export const verdictOf = async (
  options: Omit<ReviewOptions, 'task'>, deps: VerbDeps,
): Promise<TaskVerdict> => {
  const given = ([
    ['approve', options.approve], ['reject', options.reject],
    ['accept-overrun', options.acceptOverrun], ['accept-held', options.acceptHeld],
  ] as const).filter(([, on]) => on)
  const [only] = given
  if (only !== undefined && given.length === 1) return only[0]
  if (only === undefined && deps.interactive) return askVerdict(deps, verdicts)
  throw fail.usage(
    'one_verdict', 'Give one of --approve, --reject, --accept-overrun and --accept-held.',
  )
}

export const review: VerbRecord<ReviewOptions, TaskDocument> = {
  summary: 'approve or reject an answer, or accept a charge above its bound',
  description:
    'Approving makes the task done; rejecting leaves it succeeded and never done; the charge '
    + 'stands either way. --accept-overrun releases an answer whose charge passed the bound, '
    + '--accept-held one that waits because a save was under way when it came. '
    + 'A task whose charge is not known cannot be reviewed.',
  examples: [
    '$ sallyport alpha review task_0190f… --approve',
    '$ sallyport alpha review task_0190f… --accept-overrun',
  ],
  session: 'required',
  ids: { task: 'task' },
  decides: true,
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  json: alphaReview,
  flags: (command) => command
    .argument('<task>', 'id of the task')
    .option('--approve', 'the answer serves its goal: done')
    .option('--reject', 'it does not')
    .option('--accept-overrun', 'accept a charge above the request bound')
    .option('--accept-held', 'accept an answer that a save made wait'),
  text: taskText,
  run: async (options, deps) => {
    const request = requestOf(alphaReview, { ...options, verdict: await verdictOf(options, deps) })
    const { gov, session } = await loginToMutate(deps)
    const task = await reviewAnyTask(gov, session, request.task, request.verdict)
    return alphaReview.answer({ view: gov.store.read(), task })
  },
}
