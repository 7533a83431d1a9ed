import { fail, SallyportError, type ErrorKind } from '../../base/errors.js'
import { exitStatus } from '../../base/exit-status.js'
import { endingError, type PaidEnd, type PaidNames } from '../../contact/ending.js'
import { isoFromMs } from '../../base/clock.js'
import { getJob, taskAccess, type TaskAccess } from '../../governance/board/visible-tasks.js'
import { closedByHand } from '../../governance/board/close.js'
import { recoverOwnership } from '../../governance/board/recover.js'
import { moneyDueOf, moneyNext } from '../../governance/ledger/due.js'
import { findReservation } from '../../governance/ledger/find-reservation.js'
import type { Task } from '../../governance/rows.js'
import type { Session } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { answerHeld, answerNotStored, costLiability, rejectedByHand } from '../constants.js'
import type { AlphaContext } from '../context.js'
import { readOutput } from '../output.js'
import type { AlphaReceipt } from '../receipt.js'

/** A succeeded ask. */
export interface AskResult {
  readonly task: Task
  readonly answer: string
  readonly receipt: AlphaReceipt
}

const detailsOf = (task: Task) => ({
  task_id: task.task_id, operation_id: task.operation_id, state: task.state,
})

const namesOf = (task: Task, cause: unknown): PaidNames => ({
  noun: 'ask',
  biller: 'provider',
  review: `sallyport task review ${task.task_id}`,
  accept: `sallyport task review ${task.task_id}`,
  codes: {
    charge_unknown: 'ask_blocked', overrun: 'ask_blocked', held: 'ask_blocked',
    refused: 'ask_failed',
  },
  texts: {
    charge_unknown:
      'The charge of this ask is not known; the full bound stays held and no answer is released.',
    overrun: 'The charge passed the request bound; it stands, and the answer waits for a review.',
    held: 'The answer is paid for and kept; a save was under way, so it waits to be accepted.',
    refused: refusedText(task.reason ?? '', cause),
  },
})

/** Where nobody was reached, that is said at once: there is nothing to look up. */
const unreached: Readonly<Record<string, string | undefined>> = {
  connect_failed: ': no connection to the provider came about',
  dns_failed: ': the name of the provider was not resolved',
}

/** What the disk said is known to the run that met it alone, not to a repeat of its key. */
const refusedText = (reason: string, cause: unknown): string => {
  if (reason !== answerNotStored) {
    return `The ask ended without an answer${unreached[reason] ?? ''}.`
  }
  const said = cause instanceof SallyportError
    ? ` (${String(cause.details['errno'] ?? cause.code)})` : ''
  return `The answer could not be written${said} and is lost; its charge stands.`
}

const room = 'Make room on the disk of the state, and see that its folders belong to you. '
  + 'The same key asks nothing anew; another one pays again.'

/** Reasons of tasks that a person ended: nobody broke a contract. */
const endedByHand: ReadonlySet<string> = new Set([closedByHand, ...Object.values(rejectedByHand)])

/** What rows of the board do not say of the end of an ask. */
interface HowEnded {
  readonly kind?: ErrorKind | null
  readonly cause?: unknown
}

const told = (
  task: Task, end: PaidEnd, parts: { reason: string; next?: string },
  { kind = null, cause }: HowEnded,
): SallyportError => endingError(namesOf(task, cause), {
  end, operationId: task.operation_id, details: detailsOf(task), boundMicrousd: null, cause,
  kind, ...parts,
})

const endOf = ({ blocked }: Task): PaidEnd => {
  if (blocked?.kind === costLiability.kind) return 'charge_unknown'
  return blocked?.kind === answerHeld.kind ? 'held' : 'overrun'
}

/** A review needs the session that holds the task, and its goal as it is now. */
const reviewOf = (task: Task, access: TaskAccess): { readonly next?: string } => {
  if (access === 'current' || endOf(task) === 'charge_unknown') return {}
  const { task_id: id } = task
  return { next: `Run \`sallyport task recover ${id}\`, then \`sallyport task review ${id}\`.` }
}

/**
 * The error that tells how a task ended; for a task that has not ended, a conflict. The board says
 * only that it failed: why decides the exit status of an ask that just ended.
 */
export const errorOfTask = (
  task: Task, ended: HowEnded = {}, access: TaskAccess = 'current',
): SallyportError => {
  const reason = task.reason ?? task.state
  const next = `See \`sallyport task show ${task.task_id}\`.`
  if (task.state === 'blocked') {
    const parts = { reason: task.blocked?.reason ?? 'blocked', ...reviewOf(task, access) }
    return told(task, endOf(task), parts, {})
  }
  if (task.state === 'cancelled' && ended.kind === 'blocked') {
    return fail.blocked(
      'ask_blocked', 'The ask was cancelled; its charge passed the request bound and stands.', {
        reason, details: detailsOf(task),
        next: `Run \`sallyport ledger review ${task.operation_id}\`.`,
      },
    )
  }
  if (task.state === 'cancelled') {
    return fail.cancelled('ask_cancelled', 'The ask was cancelled; no answer was kept.', {
      reason, details: detailsOf(task),
    })
  }
  if (task.state === 'failed' && endedByHand.has(reason)) {
    return fail.blocked('ask_blocked', 'A person ended this ask; no answer is ever released.', {
      reason, details: detailsOf(task), next,
    })
  }
  if (task.state === 'failed') {
    return told(task, 'refused', { reason, next: reason === answerNotStored ? room : next }, ended)
  }
  return fail.conflict('ask_in_progress', 'This ask is under way in another process.', {
    reason, details: detailsOf(task), next,
  })
}

/** A charge that a person has settled holds nothing any more: its task waits to be closed. */
const requireOwing = (view: View, task: Task): void => {
  if (task.blocked?.kind !== costLiability.kind) return
  const due = moneyDueOf(view, task.operation_id)?.kind
  if (due === 'settle') return
  throw fail.blocked(
    'ask_blocked', 'The charge of this ask was settled by hand; its answer is never released.', {
      reason: task.blocked.reason, details: detailsOf(task),
      next: due === 'review' ? moneyNext(view, task.operation_id)
        : `Run \`sallyport task close ${task.task_id}\`.`,
    },
  )
}

const isErrorKind = (text: string): text is ErrorKind =>
  text !== 'ok' && Object.hasOwn(exitStatus, text)

/**
 * How the run that ended a task told it; of one that died before, and of tasks of an earlier
 * version, whether anything was sent.
 */
const kindOf = (view: View, task: Task): ErrorKind | null => {
  if (task.state === 'cancelled') {
    // What it left to a person is over once its charge was reviewed.
    return moneyDueOf(view, task.operation_id)?.kind === 'review' ? 'blocked' : 'cancelled'
  }
  const kept = getJob(view, task).progress['error_kind']
  if (typeof kept === 'string' && isErrorKind(kept)) return kept
  const state = findReservation(view, task.operation_id)?.state ?? 'released'
  return state === 'released' ? 'failed' : null
}

/** Throws how a task ended that did not succeed. */
const requireSuccess = (view: View, task: Task, access?: TaskAccess): void => {
  if (task.state === 'succeeded') return
  throw errorOfTask(task, { kind: kindOf(view, task) }, access)
}

/** The result of the task that just ended, as far as its session may still read it. */
export const answerOfTask = (ctx: AlphaContext, session: Session, task: Task): AskResult => {
  requireSuccess(ctx.gov.store.read(), task)
  return readOutput(ctx.gov, session, task.task_id)
}

/**
 * The result of the task that an equal request made before: one that succeeded under another
 * session of its owner is taken over by this one, as `task recover` does. Whoever repeats key and
 * question has a right to the answer; reading a task by its id alone stays with the session that
 * holds it. Throws how a task ended that did not succeed.
 */
export const repeatedAnswer = async (
  ctx: AlphaContext, session: Session, task: Task,
): Promise<AskResult> => {
  const { store, clock } = ctx.gov
  const view = store.read()
  const access = taskAccess(view, session, task)
  requireOwing(view, task)
  requireSuccess(view, task, access)
  if (access !== 'current') {
    await store.transact('alpha ask', (tx) =>
      recoverOwnership(tx, isoFromMs(clock.wallMs()), session, task.task_id))
  }
  return answerOfTask(ctx, session, task)
}
