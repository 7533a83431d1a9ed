/**
 * Steps 10 to 12: what did it cost. The billing UUID and each attempt are durable before the
 * attempt goes out, so that no crash can lead to a third. Revoking does not stop it: it spends
 * nothing, adopts nothing and settles what is already owed, with the key captured before contact
 * (A-136, A-139, A-140, A-167).
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { getJob, getTask } from '../../governance/board/read.js'
import { requireBound } from '../../governance/ledger/post.js'
import { persist } from '../../governance/persist.js'
import { collections } from '../../governance/rows.js'
import { bindBillingUuid } from '../billing-uuids.js'
import { judgeBilling, noBillingReply, type BillingVerdict } from '../billing.js'
import { alphaLimits } from '../constants.js'
import { billingStageMs, nextBillingStep, type BillingCost } from '../next-step.js'
import { billingRequestBytes, billingUrl, providerHeaders } from '../request.js'
import { bindingOf, type AskOperation } from './operation.js'

/** A charge and the attempt that gave it, or why there is none. */
export type BillingResult =
  | { readonly cost: BillingCost; readonly attempt: 1 | 2 }
  | { readonly cost: null; readonly reason: string }

const recordAttempt = (
  operation: AskOperation, uuid: string, attempt: 1 | 2, leftMs: () => number,
): Promise<void> =>
  persist(operation.ctx.gov, 'alpha ask', leftMs, (tx) => {
    const job = getJob(tx, getTask(tx, operation.taskId))
    bindBillingUuid(tx, uuid, operation.operationId)
    const made = Number(job.progress['billing_attempts'] ?? 0)
    if (made !== attempt - 1 || attempt > alphaLimits.billingPostsMax) {
      throw fail.conflict('billing_attempts_spent', 'At most two billing requests are ever made.')
    }
    tx.put(collections.jobs, job.job_id, {
      ...job,
      progress: { ...job.progress, billing_uuid: uuid, billing_attempts: attempt },
      updated_at: isoFromMs(operation.ctx.gov.clock.wallMs()),
    })
  })

/** Billing may go out only for an operation that is contacted and not settled yet. */
const checkOwed = (operation: AskOperation): void => {
  const { state } = requireBound(operation.ctx.gov.store.read(), bindingOf(operation))
  if (state === 'contacted') return
  throw fail.conflict('nothing_owed', 'This operation has no open charge to read back.')
}

const post = async (
  operation: AskOperation, uuid: string, key: Buffer,
  { timeoutMs, earlier }: { timeoutMs: number; earlier: readonly BillingVerdict[] },
): Promise<BillingVerdict> => {
  const { ctx } = operation
  try {
    const client = await ctx.client()
    const reply = await client.request({
      method: 'POST',
      url: billingUrl(ctx.provider.base_url),
      headers: providerHeaders(key.toString('latin1')),
      body: billingRequestBytes(uuid),
      requestBytesMax: alphaLimits.billingRequestBytesMax,
      replyBytesMax: alphaLimits.billingBytesMax,
      timeoutMs,
      authority: () => checkOwed(operation),
      // The attempt is already durable; the charge itself was marked at the inference.
      markContact: () => undefined,
    })
    return judgeBilling(reply, { uuid, earlier })
  } catch (error) {
    return billingFailure(error)
  }
}

/** An encoded or oversize reply is a definite violation; any other failure gives no verdict. */
const billingFailure = (error: unknown): BillingVerdict => {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'encoding_refused') return { kind: 'violation', reason: 'content_encoding' }
  if (code === 'reply_too_large') return { kind: 'violation', reason: 'oversize' }
  return noBillingReply
}

/**
 * Makes an attempt durable before it goes out. Answers why it cannot be made, or null: what keeps
 * it from being recorded must not keep the operation from ending.
 */
const attemptRefused = async (
  operation: AskOperation, uuid: string, attempt: 1 | 2, leftMs: () => number,
): Promise<string | null> => {
  try {
    await recordAttempt(operation, uuid, attempt, leftMs)
    return leftMs() < alphaLimits.billingAttemptMsMin ? 'deadline_passed' : null
  } catch (error) {
    if (error instanceof SallyportError) return error.code
    throw error
  }
}

/** Reads the charge back: at most two POSTs, one second apart, at most 15 seconds. */
export const readBilling = async (
  operation: AskOperation, uuid: string, key: Buffer,
): Promise<BillingResult> => {
  const { clock, observer } = operation.ctx.gov
  const endsAt = clock.monotonicMs() + billingStageMs(operation.deadline.remainingMs())
  const leftMs = (): number => Math.floor(endsAt - clock.monotonicMs())
  const verdicts: BillingVerdict[] = []
  for (;;) {
    const step = nextBillingStep({ verdicts, stageLeftMs: leftMs() })
    if (step.kind === 'unknown') return { cost: null, reason: step.reason }
    if (step.kind === 'settle') {
      return { cost: step.cost, attempt: verdicts.length === 1 ? 1 : 2 }
    }
    if (step.pauseMs > 0) await clock.sleep(step.pauseMs)
    const refused = await attemptRefused(operation, uuid, step.attempt, leftMs)
    if (refused !== null) return { cost: null, reason: refused }
    await observer.at(`ask.billing_${step.attempt}`)
    // The wait for the state lock counts as well: the whole stage ends in time.
    const timeoutMs = Math.min(step.timeoutMs, leftMs())
    verdicts.push(await post(operation, uuid, key, { timeoutMs, earlier: verdicts }))
  }
}
