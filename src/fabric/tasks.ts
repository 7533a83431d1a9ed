/** What people decide about tasks, over every capability: both faces call these. */
import { isoFromMs } from '../base/clock.js'
import { fail } from '../base/errors.js'
import { requireReviewed } from '../governance/board/close.js'
import { requireCancellable } from '../governance/board/cancel.js'
import { findTask } from '../governance/board/place.js'
import { getTask } from '../governance/board/visible-tasks.js'
import type { ToldOfTask } from '../governance/board/task-document.js'
import { recoverableTasks, recoverFinished, recoverOwnership } from '../governance/board/recover.js'
import { reviewTask } from '../governance/board/review.js'
import {
  ownerOfKind, ownerOfRuntime, type Capability, type Registry,
} from '../governance/capability.js'
import type { Gov, Session } from '../governance/context.js'
import {
  manualSettle, requireUnknownCharge, reviewOverrun, type FoundAmount,
} from '../governance/ledger/by-hand.js'
import { requireOwnReservation } from '../governance/ledger/own.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import type { Reservation, Task } from '../governance/rows.js'
import { requireRootRow } from '../governance/session/live.js'
import { askedThrough, stopNow, type Recorded } from '../governance/stops/act.js'
import { requestsOf } from '../governance/stops/requests.js'
import type { View } from '../state/types.js'
import { capabilities } from './capabilities.js'
import type { RecoveredTasks, TaskVerdict } from './tasks-contract.js'

type HeldReview = 'reviewOverrun' | 'reviewHeld'

const nothingHeld: Readonly<Record<HeldReview, readonly [code: string, text: string]>> = {
  reviewOverrun: ['no_overrun_to_review', 'No overrun of this task waits for review.'],
  reviewHeld: ['no_held_answer', 'No answer of this task waits to be accepted.'],
}

const heldOf = async (
  gov: Gov, session: Session, owner: Capability | undefined, which: HeldReview,
  request: { readonly taskId: string; readonly verdict: 'accept' | 'reject' },
): Promise<Task> => {
  const review = (await owner?.decisions?.())?.[which]
  if (review !== undefined) return review(gov, session, request)
  throw fail.conflict(...nothingHeld[which])
}

const waitsFor = (task: Task): HeldReview | null => {
  if (task.blocked?.kind === 'cost_overrun') return 'reviewOverrun'
  return task.blocked?.kind === 'answer_held' ? 'reviewHeld' : null
}

const accepts: Readonly<Partial<Record<TaskVerdict, HeldReview>>> = {
  'accept-overrun': 'reviewOverrun', 'accept-held': 'reviewHeld',
}

/**
 * Reviews a task: approve or reject its answer, or accept one that waits for a person, because its
 * charge passed the bound or a save was under way. Rejecting a task whose answer waits drops that
 * answer; that of a disabled owner may be dropped by any other.
 */
export const reviewAnyTask = async (
  gov: Gov, session: Session, taskId: string, verdict: TaskVerdict,
  registry: Registry = capabilities,
): Promise<Task> => {
  const task = requireReviewed(
    gov.store.read(), session, taskId, verdict === 'reject' ? verdict : 'accept')
  const owner = ownerOfKind(registry, task.kind)
  const accepted = accepts[verdict]
  if (accepted !== undefined) {
    return heldOf(gov, session, owner, accepted, { taskId, verdict: 'accept' })
  }
  const waits = waitsFor(task)
  if (verdict === 'reject' && waits !== null) {
    return heldOf(gov, session, owner, waits, { taskId, verdict })
  }
  if (verdict !== 'approve' && verdict !== 'reject') throw new TypeError('no such verdict')
  return gov.store.transact('task review', (tx) =>
    reviewTask(tx, isoFromMs(gov.clock.wallMs()), session, taskId, verdict))
}

interface CancelledTask {
  /** Null where there was nothing to cancel. */
  readonly recorded: Recorded | null
  readonly told: ToldOfTask
  /** The task as a view has it, the cancel included where it is not recorded yet. */
  seenIn(view: View): Task
}

/** Asks for a cancel: at once where nothing runs, at the next step where something does. */
export const cancelAnyTask = async (
  gov: Gov, session: Session, taskId: string,
): Promise<CancelledTask> => {
  const done = await stopNow(gov, () => {
    const view = gov.store.read()
    const current = requireRootRow(view, isoFromMs(gov.clock.wallMs()), session.root.root_id)
    return {
      aim: { kind: 'task', target: taskId }, by: askedThrough('task cancel', session),
      isDone: requireCancellable(view, current, taskId) === null,
    }
  })
  const unrecorded = done !== null && done.recorded.row === null
  return {
    recorded: done?.recorded ?? null,
    told: { requests: requestsOf(done?.recorded ?? null) },
    seenIn: (view) => ({
      ...getTask(view, taskId), ...(unrecorded ? { cancel_requested_at: done.stop.at } : {}),
    }),
  }
}

/** Moves an owner's task to the present session, for reading, review and cancel only. */
export const recoverAnyTask = (gov: Gov, session: Session, taskId: string): Promise<Task> =>
  gov.store.transact('task recover', (tx) => {
    recoverOwnership(tx, isoFromMs(gov.clock.wallMs()), session, taskId)
    return getTask(tx, taskId)
  })

/**
 * Moves all of an owner's finished tasks that no other live session holds to the present one, as
 * one act; what one record has no room for follows in another. Answers how many were moved.
 */
export const recoverAllTasks = async (gov: Gov, session: Session): Promise<RecoveredTasks> => {
  let [recovered, acts] = [0, 0]
  for (;;) {
    // Found without the lock: only what is there to be moved is read again under it.
    const found = recoverableTasks(gov, session)
    if (found.length === 0) return { recovered, acts }
    const moved = await gov.store.transact('task recover', (tx) =>
      recoverFinished(tx, isoFromMs(gov.clock.wallMs()), session, found))
    if (moved === 0) return { recovered, acts }
    recovered += moved
    acts += 1
  }
}

/** What each capability does beside the settlement of an operation of its own. */
const settledHooks = async (view: View, operationIds: readonly string[], registry: Registry) => {
  const runtimes = new Set(operationIds.flatMap((id) => findReservation(view, id)?.runtime ?? []))
  return new Map(await Promise.all([...runtimes].map(async (runtime) => {
    const decisions = await ownerOfRuntime(registry, runtime)?.decisions?.()
    return [runtime, decisions?.settledByHand] as const
  })))
}

/**
 * Settles unknown charges by hand, each at the same amount, all in one record or none: one that is
 * known by then ends it (`conflict` `charge_not_unknown`). What the capability keeps of a charge
 * follows in the same record (a receipt, the sums of a budget), so that it never disagrees with the
 * ledger; the tasks stay blocked.
 */
export const settleCharges = async (
  gov: Gov, session: Session, operationIds: readonly string[], found: FoundAmount,
  registry: Registry = capabilities,
): Promise<readonly Reservation[]> => {
  const hooks = await settledHooks(gov.store.read(), operationIds, registry)
  return gov.store.transact('ledger settle', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    return operationIds.map((operationId) => {
      requireUnknownCharge(tx, session, operationId)
      const { reservation } = manualSettle(tx, now, session, { ...found, operationId })
      hooks.get(reservation.runtime)?.(gov, tx, now, reservation)
      return reservation
    })
  })
}

/**
 * Reviews a charge above its bound by its operation. Where a task waits for it, the review of the
 * task is the same step, so that answer and ledger never disagree.
 */
export const reviewAnyOverrun = async (
  gov: Gov, session: Session, operationId: string, verdict: 'accept' | 'reject',
  registry: Registry = capabilities,
): Promise<Reservation> => {
  const view = gov.store.read()
  const { reservation } = requireOwnReservation(view, session, operationId)
  const task = reservation.task_id === null ? undefined : findTask(view, reservation.task_id)
  if (task !== undefined && waitsFor(task) === 'reviewOverrun') {
    const owner = ownerOfRuntime(registry, reservation.runtime)
    await heldOf(gov, session, owner, 'reviewOverrun', { taskId: task.task_id, verdict })
    return requireOwnReservation(gov.store.read(), session, operationId).reservation
  }
  return gov.store.transact('ledger review', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    return reviewOverrun(tx, now, session, operationId, verdict).reservation
  })
}
