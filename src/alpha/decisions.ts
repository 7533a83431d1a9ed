/** What people decide about asks. */
import { isoFromMs } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import {
  adoptArtifact, discardStored, dropArtifact, readArtifact,
} from '../governance/artifacts.js'
import { appendAudit } from '../governance/audit.js'
import { requireReviewed } from '../governance/board/close.js'
import { moveTask } from '../governance/board/move.js'
import { findTask } from '../governance/board/place.js'
import { getJob } from '../governance/board/visible-tasks.js'
import type { CapabilityDecisions } from '../governance/capability.js'
import type { Gov, Session } from '../governance/context.js'
import { orUndefined } from '../governance/judge/fact.js'
import { reviewOverrun } from '../governance/ledger/by-hand.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import { deploymentProfile } from '../governance/profile.js'
import { collections, type Task } from '../governance/rows.js'
import { requireRootRow } from '../governance/session/live.js'
import type { Tx } from '../state/types.js'
import { requireAdoptionAuthority } from './ask/authority.js'
import { writeReceipt } from './ask/finish.js'
import {
  alphaArtifactLabels, costOverrun, answerHeld, alphaCapability, rejectedByHand,
  type AlphaProvider,
} from './constants.js'
import { parseAlphaInput } from './input.js'

// The review of a held answer: one whose charge passed its bound, or one that a save made wait.
// Accepting adopts it, and is refused where the authority for that is not current; rejecting drops
// it. The charge stands either way.

/** What a held answer waits for. */
type HeldFor = typeof costOverrun | typeof answerHeld

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

/** Null where the job that names it is lost: that keeps nobody from dropping it. */
const heldAnswer = (tx: Tx, task: Task, accepts: boolean): string | null => {
  if (!accepts && tx.get(collections.jobs, task.job_id) === undefined) return null
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
      'The answer cannot be released: its session, goal or consent is not current.',
      {
        reason: error.reason ?? error.code, cause: error, details: { task_id: task.task_id },
        next: 'Nothing was decided. --reject drops the answer; the charge stands either way.',
      },
    )
  }
}

/** The receipt as the rows stand by now; false where a repair has lost rows that it needs. */
const renewReceipt = (gov: Gov, tx: Tx, now: string, task: Task): boolean => {
  if (findReservation(tx, task.operation_id) === undefined) return false
  return orUndefined(() => {
    writeReceipt(tx, now, task, deploymentProfile(gov.store).provider)
    return true
  }) ?? false
}

/**
 * Reviews a held answer of one of the operator's tasks; one verdict, never changed. Throws
 * `unauthorized` for an `accept`: `answer_suspended` until a save has ended, and
 * `answer_not_adoptable` where the authority is gone.
 */
const reviewHeldAnswer = async (
  gov: Gov, session: Session, request: {
    readonly taskId: string
    readonly verdict: 'accept' | 'reject'
    readonly held: HeldFor
  },
): Promise<Task> => {
  const { provider } = deploymentProfile(gov.store)
  let dropped: string | null = null
  const reviewed = await gov.store.transact('alpha review', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    const task = requireHeld(tx, session, request)
    const accepts = request.verdict === 'accept'
    if (accepts) requireAdoption(gov, provider, tx, task)
    const isOverrun = request.held === costOverrun
    // Of a charge whose rows are lost nobody can say more than that its answer is not wanted.
    if (isOverrun && (accepts || findReservation(tx, task.operation_id) !== undefined)) {
      reviewOverrun(tx, now, session, task.operation_id, request.verdict)
    }
    const held = heldAnswer(tx, task, accepts)
    if (held !== null && accepts) adoptArtifact(tx, held)
    else if (held !== null) dropped = dropArtifact(tx, held)
    const ended = accepts
      ? moveTask(tx, now, task.task_id, 'succeeded', { result_artifact_id: held })
      : moveTask(tx, now, task.task_id, 'failed', {
        reason: isOverrun ? rejectedByHand.overrun : rejectedByHand.held,
      })
    if (!isOverrun) {
      appendAudit(tx, now, {
        what: 'alpha.held_answer_reviewed', principal: session.principal.principal_id,
        root: session.root.root_id,
        subject: task.task_id, facts: { verdict: request.verdict },
      })
    }
    // A rejection changes nothing that a receipt tells: where it cannot be renewed it stands.
    if (accepts) writeReceipt(tx, now, ended, provider)
    else renewReceipt(gov, tx, now, ended)
    return ended
  })
  discardStored(gov.store, dropped)
  return reviewed
}

/**
 * The review of an overrun, and the receipt that tells a charge settled by hand in the same
 * record, so that receipt and ledger never disagree.
 */
export const alphaDecisions: CapabilityDecisions = {
  reviewOverrun: (gov, session, request) =>
    reviewHeldAnswer(gov, session, { ...request, held: costOverrun }),
  reviewHeld: (gov, session, request) =>
    reviewHeldAnswer(gov, session, { ...request, held: answerHeld }),
  settledByHand: (gov, tx, now, { task_id: taskId }) => {
    const task = taskId === null ? undefined : findTask(tx, taskId)
    if (task?.kind !== alphaCapability) return
    const job = tx.get(collections.jobs, task.job_id)
    if (job === undefined || job.receipt === null || renewReceipt(gov, tx, now, task)) return
    // What a person decided about the money stands, and no older receipt says otherwise. Only an
    // answer that is there is read by the receipt that it has.
    if (task.state === 'succeeded') return
    tx.put(collections.jobs, job.job_id, { ...job, receipt: null, updated_at: now })
  },
}
