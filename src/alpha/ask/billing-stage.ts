/**
 * What did it cost. The billing UUID and each attempt are durable before the attempt goes out, so
 * that no crash can lead to a third. Revoking does not stop it: it spends nothing, adopts nothing
 * and settles what is already owed, with the key captured before contact (A-136, A-139, A-140,
 *
 */
import { fail } from '../../base/errors.js'
import type { Outcome, Send, Step } from '../../contact/order.js'
import { getJob, getTask } from '../../governance/board/visible-tasks.js'
import { collections } from '../../governance/rows.js'
import type { Deadline } from '../../net/remaining.js'
import type { Tx } from '../../state/types.js'
import { bindBillingUuid } from '../billing-uuids.js'
import { judgeBilling, noBillingReply, type BillingVerdict } from '../billing.js'
import { alphaLimits } from '../constants.js'
import { billingStageMs, nextBillingStep, type BillingCost } from '../next-step.js'
import { billingRequestBytes, billingUrl, providerHeaders } from '../request.js'
import type { AskOperation } from './operation.js'

/** A charge and the attempt that gave it, or why there is none. */
export type BillingResult =
  | { readonly cost: BillingCost; readonly attempt: 1 | 2 }
  | { readonly cost: null; readonly reason: string }

/** The result of an ask that no bill was asked for. */
export const noBill: BillingResult = { cost: null, reason: 'no_billing_identity' }

const recordAttempt = (
  { taskId, operationId }: AskOperation, tx: Tx, now: string, uuid: string, attempt: 1 | 2,
): void => {
  const job = getJob(tx, getTask(tx, taskId))
  bindBillingUuid(tx, uuid, operationId)
  const made = Number(job.progress['billing_attempts'] ?? 0)
  if (made !== attempt - 1 || attempt > alphaLimits.billingPostsMax) {
    throw fail.conflict('billing_attempts_spent', 'At most two billing requests are ever made.')
  }
  tx.put(collections.jobs, job.job_id, {
    ...job,
    progress: { ...job.progress, billing_uuid: uuid, billing_attempts: attempt },
    updated_at: now,
  })
}

interface Stage {
  readonly operation: AskOperation
  readonly uuid: string
  readonly key: Buffer
  /** Of the whole stage: the waits for the state lock count as well. */
  readonly deadline: Deadline
}

const stepOf = (
  { operation, uuid, key, deadline }: Stage,
  { attempt, timeoutMs }: { readonly attempt: 1 | 2; readonly timeoutMs: number },
  earlier: readonly BillingVerdict[],
): Step<BillingVerdict> => ({
  authority: 'owed',
  name: `billing_${attempt}`,
  request: () => ({
    method: 'POST',
    url: billingUrl(operation.ctx.provider.base_url),
    headers: providerHeaders(key.toString('latin1')),
    body: billingRequestBytes(uuid),
    requestBytesMax: alphaLimits.billingRequestBytesMax,
    replyBytesMax: alphaLimits.billingBytesMax,
  }),
  timeoutMs: () => {
    const leftMs = deadline.remainingMs()
    return leftMs < alphaLimits.billingAttemptMsMin ? null : Math.min(timeoutMs, leftMs)
  },
  stageMs: () => deadline.remainingMs(),
  mark: (tx, now) => recordAttempt(operation, tx, now, uuid, attempt),
  judge: (reply) => judgeBilling(reply, { uuid, earlier }),
  judgesHead: () => true,
})

/** A 200 that is encoded or oversize is a definite violation; no other failure gives a verdict. */
const verdictOf = (wire: Outcome<BillingVerdict>): BillingVerdict => {
  if (wire.kind === 'reply') return wire.verdict
  if (wire.reason === 'encoding_refused') return { kind: 'violation', reason: 'content_encoding' }
  if (wire.reason === 'reply_too_large') return { kind: 'violation', reason: 'oversize' }
  return noBillingReply
}

/** Reads the charge back: at most two POSTs, one second apart, at most 15 seconds. */
export const readBilling = async (
  send: Send, operation: AskOperation, uuid: string, key: Buffer,
): Promise<BillingResult> => {
  const { deadline: whole, ctx: { gov: { clock } } } = operation
  const deadline = whole.stage(billingStageMs(whole.remainingMs()))
  const stage: Stage = { operation, uuid, key, deadline }
  const verdicts: BillingVerdict[] = []
  for (;;) {
    const next = nextBillingStep({ verdicts, stageLeftMs: deadline.remainingMs() })
    if (next.kind === 'unknown') return { cost: null, reason: next.reason }
    if (next.kind === 'settle') {
      return { cost: next.cost, attempt: verdicts.length === 1 ? 1 : 2 }
    }
    if (next.pauseMs > 0) await clock.sleep(next.pauseMs)
    const wire = await send(stepOf(stage, next, verdicts))
    // What keeps an attempt from being recorded must not keep the operation from ending.
    if (wire.kind === 'unsent' && wire.tried !== true) return { cost: null, reason: wire.reason }
    verdicts.push(verdictOf(wire))
  }
}
