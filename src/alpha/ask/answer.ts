import { fail, type SallyportError } from '../../base/errors.js'
import { endingError, type PaidEnd, type PaidNames } from '../../contact/ending.js'
import type { Task } from '../../governance/rows.js'
import type { Session } from '../../governance/session/types.js'
import { answerHeld, costLiability } from '../constants.js'
import type { AlphaContext } from '../context.js'
import { readOutput } from '../output.js'
import type { AskResult } from './ask.js'
import type { AskEnd } from './finish.js'

const detailsOf = (task: Task) => ({
  task_id: task.task_id, operation_id: task.operation_id, state: task.state,
})

const namesOf = (task: Task): PaidNames => ({
  noun: 'ask',
  biller: 'provider',
  review: `sallyport alpha review ${task.task_id}`,
  accept: `sallyport alpha review ${task.task_id}`,
  codes: {
    charge_unknown: 'ask_blocked', overrun: 'ask_blocked', held: 'ask_blocked',
    refused: 'ask_failed',
  },
  texts: {
    charge_unknown:
      'The charge of this ask is not known; the full bound stays held and no answer is released.',
    overrun: 'The charge passed the request bound; it stands, and the answer waits for a review.',
    held: 'The answer is paid for and kept; a save was under way, so it waits to be accepted.',
    refused: 'The ask ended without an answer.',
  },
})

const told = (
  task: Task, end: PaidEnd, parts: { reason: string; next?: string },
  { finish, cause }: Partial<AskEnd>,
): SallyportError => endingError(namesOf(task), {
  end, operationId: task.operation_id, details: detailsOf(task), boundMicrousd: null, cause,
  kind: finish?.errorKind ?? null, ...parts,
})

const endOf = ({ blocked }: Task): PaidEnd => {
  if (blocked?.kind === costLiability.kind) return 'charge_unknown'
  return blocked?.kind === answerHeld.kind ? 'held' : 'overrun'
}

/**
 * The error that tells how a task ended; for a task that has not ended, a conflict. The board says
 * only that it failed: why decides the exit status of an ask that just ended.
 */
export const errorOfTask = (task: Task, ended: Partial<AskEnd> = {}): SallyportError => {
  const reason = task.reason ?? task.state
  const next = `See \`sallyport alpha task ${task.task_id}\`.`
  if (task.state === 'blocked') {
    return told(task, endOf(task), { reason: task.blocked?.reason ?? 'blocked' }, {})
  }
  if (task.state === 'cancelled') {
    return fail.cancelled('ask_cancelled', 'The ask was cancelled; no answer was kept.', {
      reason, details: detailsOf(task),
    })
  }
  if (task.state === 'failed') return told(task, 'refused', { reason, next }, ended)
  return fail.conflict('ask_in_progress', 'This ask is under way in another process.', {
    reason, details: detailsOf(task), next,
  })
}

/** The result of a task that succeeded, read back; any other state throws what it is. */
export const replayedAsk = (ctx: AlphaContext, session: Session, task: Task): AskResult => {
  if (task.state !== 'succeeded') throw errorOfTask(task)
  const { answer, receipt } = readOutput(ctx.gov, session, task.task_id)
  return { task, answer, receipt }
}
