/** What people decide about asks. */
import { isoFromMs } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import {
  adoptArtifact, discardStored, dropArtifact, readArtifact,
} from '../governance/artifacts.js'
import { appendAudit } from '../governance/audit.js'
import { requireTaskToEnd } from '../governance/board/close.js'
import { moveTask } from '../governance/board/move.js'
import { getJob, requireOwnTask, getTask } from '../governance/board/visible-tasks.js'
import type { CapabilityDecisions } from '../governance/capability.js'
import type { Gov, Session } from '../governance/context.js'
import { reviewOverrun } from '../governance/ledger/by-hand.js'
import { deploymentProfile } from '../governance/profile.js'
import type { Task } from '../governance/rows.js'
import { requireRootRow } from '../governance/session/live.js'
import type { Tx } from '../state/types.js'
import { requireAdoptionAuthority } from './ask/authority.js'
import { writeReceipt } from './ask/finish.js'
import {
  alphaArtifactLabels, costOverrun, answerHeld, alphaCapability, type AlphaProvider,
} from './constants.js'
import { parseAlphaInput } from './input.js'
import type { AlphaReceipt } from './receipt.js'

// The review of a held answer: one whose charge passed its bound, or one that a save made wait.
// Accepting adopts it, and is refused where the authority for that is not current; rejecting drops
// it. The charge stands either way.

/** The task after its review. */
interface HeldReviewed {
  readonly task: Task
  readonly receipt: AlphaReceipt
}

/** What a held answer waits for. */
type HeldFor = typeof costOverrun | typeof answerHeld

/**
 * The task to be reviewed: the operator's own. Rejecting releases nothing, so what a disabled owner
 * left may be rejected by any other, or nobody could ever end it.
 */
const requireReviewed = (
  tx: Tx, session: Session, taskId: string, verdict: 'accept' | 'reject',
): Task => {
  const found = verdict === 'reject' ? requireTaskToEnd(tx, session, taskId) : undefined
  return found !== undefined && found.owner !== session.principal.principal_id
    ? found : requireOwnTask(tx, session, taskId, { for: 'review' })
}

const requireHeld = (
  tx: Tx, session: Session,
  { taskId, verdict, held }: { taskId: string; verdict: 'accept' | 'reject'; held: HeldFor },
): Task => {
  const task = requireReviewed(tx, session, taskId, verdict)
  if (task.blocked?.kind === held.kind) return task
  if (task.blocked !== null) {
    throw fail.blocked('task_blocked', 'This task is blocked for another reason.', {
      reason: task.blocked.reason, details: { task_id: taskId },
    })
  }
  const details = { task_id: taskId, state: task.state }
  throw held === costOverrun
    ? fail.conflict('no_overrun_to_review', 'No overrun of this task waits for review.', {
      details,
    })
    : fail.conflict('no_held_answer', 'No answer of this task waits to be accepted.', { details })
}

const heldAnswer = (tx: Tx, task: Task): string => {
  const held = getJob(tx, task).progress['held_artifact_id']
  if (typeof held === 'string') return held
  throw fail.damaged('held_answer_missing', 'The held answer of this task is not recorded.', {
    next: 'Run `sallyport state check`.',
  })
}

/** The answer is not lost: nobody is led to drop it. */
const suspendedError = ({ task_id: id }: Task, cause: SallyportError): SallyportError =>
  fail.unauthorized(
    'answer_suspended', 'A save has not ended: nothing was decided, and the answer stays kept.', {
      reason: cause.reason ?? cause.code, cause, details: { task_id: id },
      next: cause.reason === 'save_in_progress'
        ? 'Run this again when that save has ended.'
        : 'Save the set-up anew (`sallyport alpha setup --enable`), then run this again.',
    },
  )

/** Before anything is decided: an answer that was paid for is dropped by `reject` alone. */
const requireAdoption = (gov: Gov, provider: AlphaProvider, tx: Tx, task: Task): void => {
  const input = parseAlphaInput(
    readArtifact(gov, tx, task.input_artifact_id, alphaArtifactLabels.input),
  )
  try {
    requireAdoptionAuthority({ gov, provider }, tx, task, input)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    if (error.code === 'answer_suspended') throw suspendedError(task, error)
    if (error.code !== 'ask_not_authorized') throw error
    throw fail.unauthorized(
      'answer_not_adoptable',
      'The answer cannot be released: what the question was admitted under is not current.',
      {
        reason: error.reason ?? error.code, cause: error, details: { task_id: task.task_id },
        next: 'Nothing was decided. --reject drops the answer; the charge stands either way.',
      },
    )
  }
}

/**
 * Reviews a held answer of one of the operator's tasks; one verdict, never changed. Throws
 * `unauthorized` for an `accept`: `answer_suspended` until a save has ended, and
 * `answer_not_adoptable` where the authority is gone.
 */
const reviewHeldAnswer = async (
  gov: Gov, session: Session, provider: AlphaProvider, request: {
    readonly taskId: string
    readonly verdict: 'accept' | 'reject'
    readonly held: HeldFor
  },
): Promise<HeldReviewed> => {
  let dropped: string | null = null
  const reviewed = await gov.store.transact('alpha review', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    const task = requireHeld(tx, session, request)
    const accepts = request.verdict === 'accept'
    if (accepts) requireAdoption(gov, provider, tx, task)
    const isOverrun = request.held === costOverrun
    if (isOverrun) reviewOverrun(tx, now, session, task.operation_id, request.verdict)
    const held = heldAnswer(tx, task)
    if (accepts) adoptArtifact(tx, held)
    else dropped = dropArtifact(tx, held)
    const ended = accepts
      ? moveTask(tx, now, task.task_id, 'succeeded', { result_artifact_id: held })
      : moveTask(tx, now, task.task_id, 'failed', {
        reason: isOverrun ? 'overrun_rejected' : 'held_answer_rejected',
      })
    if (!isOverrun) {
      appendAudit(tx, now, {
        what: 'alpha.held_answer_reviewed', principal: task.owner, root: session.root.root_id,
        subject: task.task_id, facts: { verdict: request.verdict },
      })
    }
    return { task: ended, receipt: writeReceipt(tx, now, ended, provider) }
  })
  discardStored(gov.store, dropped)
  return reviewed
}

/**
 * The review of an overrun, and the receipt that tells a charge settled by hand in the same
 * record, so that receipt and ledger never disagree.
 */
export const alphaDecisions: CapabilityDecisions = {
  reviewOverrun: async (gov, session, request) => {
    const { provider } = deploymentProfile(gov.store)
    return (await reviewHeldAnswer(gov, session, provider, { ...request, held: costOverrun })).task
  },
  reviewHeld: async (gov, session, request) => {
    const { provider } = deploymentProfile(gov.store)
    return (await reviewHeldAnswer(gov, session, provider, { ...request, held: answerHeld })).task
  },
  settledByHand: (gov, tx, now, { task_id: taskId }) => {
    const task = taskId === null ? undefined : getTask(tx, taskId)
    if (task?.kind !== alphaCapability || getJob(tx, task).receipt === null) return
    writeReceipt(tx, now, task, deploymentProfile(gov.store).provider)
  },
}
