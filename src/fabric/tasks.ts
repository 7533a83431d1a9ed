/** What people decide about tasks, over every capability: both faces call these. */
import { isoFromMs } from '../base/clock.js'
import { fail } from '../base/errors.js'
import { alphaCapability, alphaRuntime } from '../alpha/constants.js'
import { writeReceipt } from '../alpha/ask/finish.js'
import { reviewAlphaOverrun } from '../alpha/review-overrun.js'
import { moveSettledSpend } from '../gateway/call/settled-by-hand.js'
import { requestCancel } from '../governance/board/cancel.js'
import { getJob, getTask, requireOwnTask } from '../governance/board/read.js'
import { recoverOwnership } from '../governance/board/recover.js'
import { reviewTask } from '../governance/board/review.js'
import type { Gov } from '../governance/context.js'
import {
  manualSettle, type ManualSettlement, requireUnknownCharge, reviewOverrun,
} from '../governance/ledger/by-hand.js'
import { requireOwnReservation } from '../governance/ledger/own.js'
import { deploymentProfile } from '../governance/profile.js'
import type { Reservation, Task } from '../governance/rows.js'
import { requireRootRow } from '../governance/session/live.js'
import type { Session } from '../governance/session/types.js'
import type { TaskVerdict } from './tasks-contract.js'

const overrunOf = (
  gov: Gov, session: Session, taskId: string, verdict: 'accept' | 'reject',
): Promise<Task> => {
  const { provider } = deploymentProfile(gov.store)
  return reviewAlphaOverrun(gov, session, provider, { taskId, verdict }).then(({ task }) => task)
}

const waitsForOverrun = (task: Task): boolean =>
  task.state === 'blocked' && task.blocked?.kind === 'cost_overrun'

/**
 * Reviews a task: approve or reject its answer, or accept a charge above its bound. Rejecting a
 * task that waits for its overrun review rejects the overrun: the answer is dropped.
 */
export const reviewAnyTask = async (
  gov: Gov, session: Session, taskId: string, verdict: TaskVerdict,
): Promise<Task> => {
  const task = requireOwnTask(gov.store.read(), session, taskId, { for: 'review' })
  if (verdict === 'accept-overrun') {
    if (task.kind === alphaCapability) return overrunOf(gov, session, taskId, 'accept')
    throw fail.conflict('no_overrun_to_review', 'No overrun of this task waits for review.')
  }
  if (verdict === 'reject' && waitsForOverrun(task)) {
    return overrunOf(gov, session, taskId, 'reject')
  }
  return gov.store.transact('task review', (tx) =>
    reviewTask(tx, isoFromMs(gov.clock.wallMs()), session, taskId, verdict))
}

/** Asks for a cancel: at once where nothing runs, at the next step where something does. */
export const cancelAnyTask = (gov: Gov, session: Session, taskId: string): Promise<Task> =>
  gov.store.transact('task cancel', (tx) =>
    requestCancel(tx, isoFromMs(gov.clock.wallMs()), session, taskId))

/** Moves an owner's task to the present session, for reading, review and cancel only. */
export const recoverAnyTask = (gov: Gov, session: Session, taskId: string): Promise<Task> =>
  gov.store.transact('task recover', (tx) => {
    recoverOwnership(tx, isoFromMs(gov.clock.wallMs()), session, taskId)
    return getTask(tx, taskId)
  })

/**
 * Settles an unknown charge by hand. The receipt of the task tells it in the same record, so that
 * receipt and ledger never disagree; the task stays blocked. Of a call through the gateway
 * the sums of its day follow, so that a budget does not hold the bound any longer.
 */
export const settleAnyCharge = (
  gov: Gov, session: Session, request: ManualSettlement,
): Promise<Reservation> =>
  gov.store.transact('ledger settle', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    requireUnknownCharge(tx, session, request.operationId)
    const { reservation } = manualSettle(tx, now, session, request)
    if (reservation.runtime !== alphaRuntime) {
      moveSettledSpend(tx, reservation, request.amount)
    }
    const task = reservation.task_id === null ? undefined : getTask(tx, reservation.task_id)
    if (task?.kind === alphaCapability && getJob(tx, task).receipt !== null) {
      writeReceipt(tx, now, task, deploymentProfile(gov.store).provider)
    }
    return reservation
  })

/**
 * Reviews a charge above its bound by its operation. Where a task waits for it, the review of the
 * task is the same step, so that answer and ledger never disagree.
 */
export const reviewAnyOverrun = async (
  gov: Gov, session: Session, operationId: string, verdict: 'accept' | 'reject',
): Promise<Reservation> => {
  const view = gov.store.read()
  const { reservation } = requireOwnReservation(view, session, operationId)
  const task = reservation.task_id === null ? undefined : getTask(view, reservation.task_id)
  if (reservation.runtime === alphaRuntime && task !== undefined && waitsForOverrun(task)) {
    await overrunOf(gov, session, task.task_id, verdict)
    return requireOwnReservation(gov.store.read(), session, operationId).reservation
  }
  return gov.store.transact('ledger review', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    return reviewOverrun(tx, now, session, operationId, verdict).reservation
  })
}
