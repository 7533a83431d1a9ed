/** What a person says of an ask: its review, or that it is not wanted any more. */
import { alphaReview, alphaCancel } from '../../../alpha/task-contract.js'
import { fail } from '../../../base/errors.js'
import { tasks } from '../../../fabric/operations/tasks.js'
import { taskVerdicts } from '../../../fabric/tasks-contract.js'
import { askVerdict } from '../../ask-verdict.js'
import { taskText } from '../../task-text.js'
import { camelCase, type VerbDeps } from '../../verb.js'
import { verbOf } from '../../verb-of.js'

interface ReviewOptions {
  readonly task: string
  readonly approve?: boolean
  readonly reject?: boolean
  readonly acceptOverrun?: boolean
  readonly acceptHeld?: boolean
}

/**
 * The line of a review with its one verdict; on a terminal it is asked for where none was given.
 * Throws `usage` for none or several, and `cancelled` where a person leaves it at that.
 */
export const withVerdict = async (line: ReviewOptions, deps: VerbDeps) => {
  const [only, ...others] = taskVerdicts.filter((one) =>
    line[camelCase(one) as keyof ReviewOptions] === true)
  if (only !== undefined && others.length === 0) return { ...line, verdict: only }
  if (only === undefined && deps.interactive) {
    return { ...line, verdict: await askVerdict(deps, taskVerdicts) }
  }
  throw fail.usage(
    'one_verdict', 'Give one of --approve, --reject, --accept-overrun and --accept-held.',
  )
}

export const review = verbOf({ ...tasks.review, contract: alphaReview }, {
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
  of: 'task',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  flags: (command) => command
    .option('--approve', 'the answer serves its goal: done')
    .option('--reject', 'it does not')
    .option('--accept-overrun', 'accept a charge above the request bound')
    .option('--accept-held', 'accept an answer that a save kept waiting'),
  text: taskText,
  complete: withVerdict,
})

export const cancel = verbOf({ ...tasks.cancel, contract: alphaCancel }, {
  summary: 'cancel a text task',
  description:
    'Before contact nothing is sent any more. After contact the charge is still read back and '
    + 'the answer is dropped; a charge that stays unknown blocks the task all the same.',
  examples: ['$ sallyport alpha cancel task_0190f…'],
  of: 'task',
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  text: taskText,
})
