import { fail, SallyportError } from '../../base/errors.js'
import { settleCommand } from '../../governance/ledger/due.js'
import { unrecorded } from '../../governance/persist.js'
import type { Task } from '../../governance/rows.js'
import type { Session } from '../../governance/session/types.js'
import type { AlphaContext } from '../context.js'
import { readOutput } from '../output.js'
import type { AskResult } from './ask.js'
import type { InferenceEnd } from '../next-step.js'
import type { AskEnd } from './finish.js'
import type { AskOperation } from './operation.js'

const detailsOf = (task: Task) => ({
  task_id: task.task_id, operation_id: task.operation_id, state: task.state,
})

const blockedError = (task: Task): SallyportError => {
  const overrun = task.blocked?.kind !== 'cost_liability'
  const message = overrun
    ? 'The charge passed the request bound; it stands, and the answer waits for a review.'
    : 'The charge of this ask is not known; the full bound stays held and no answer is released.'
  return fail.blocked('ask_blocked', message, {
    reason: task.blocked?.reason ?? 'blocked',
    next: overrun
      ? `Run: sallyport alpha review ${task.task_id} --accept-overrun`
      : `Look it up with the provider, then: ${settleCommand(task.operation_id)}`,
    details: detailsOf(task),
  })
}

/** The error that tells how a task ended; for a task that has not ended, a conflict. */
export const errorOfTask = (task: Task): SallyportError => {
  const parts = { reason: task.reason ?? task.state, details: detailsOf(task) }
  if (task.state === 'blocked') return blockedError(task)
  if (task.state === 'cancelled') {
    return fail.cancelled('ask_cancelled', 'The ask was cancelled; no answer was kept.', parts)
  }
  if (task.state === 'failed') {
    return fail.remote('ask_failed', 'The ask ended without an answer.', {
      ...parts, next: `See: sallyport alpha task ${task.task_id}`,
    })
  }
  return fail.conflict('ask_in_progress', 'This ask is under way in another process.', {
    ...parts, next: `See: sallyport alpha task ${task.task_id}`,
  })
}

/** The error of an ask that just ended otherwise than with an answer. */
export const errorOfEnd = ({ task, finish, cause }: AskEnd): SallyportError => {
  const plain = errorOfTask(task)
  if (task.state !== 'failed' || finish.errorKind === null) return plain
  // The board says only that it failed; why decides the exit status.
  return new SallyportError({
    kind: finish.errorKind, code: plain.code, message: plain.message, cause,
    reason: plain.reason ?? 'failed', details: plain.details,
    ...(plain.next === null ? {} : { next: plain.next }),
  })
}

/**
 * The error of an ask whose end could not be recorded. Before contact it is what stopped the ask.
 * After contact see `unrecorded`.
 */
export const errorUnrecorded = (
  operation: AskOperation, inference: InferenceEnd, error: unknown,
): unknown => {
  if (!(error instanceof SallyportError)) return error
  if (inference.kind === 'not_contacted') {
    const { cause } = inference
    return cause instanceof SallyportError && error.kind !== 'damaged' ? cause : error
  }
  return unrecorded(error, operation.operationId, { task_id: operation.taskId })
}

/** The result of a task that succeeded, read back; any other state throws what it is. */
export const replayedAsk = (ctx: AlphaContext, session: Session, task: Task): AskResult => {
  if (task.state !== 'succeeded') throw errorOfTask(task)
  const { answer, receipt } = readOutput(ctx.gov, session, task.task_id)
  return { task, answer, receipt }
}
