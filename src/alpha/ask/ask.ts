/**
 * One question, one answer, one receipt. The order is fixed: admit, queue, lane, lease and hold,
 * contact mark, one request, billing readback, one closing record. Nothing is held across waiting
 * but the lane; nothing that may have happened is tried again.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { moveTask } from '../../governance/board/move.js'
import { requestCancel } from '../../governance/board/cancel.js'
import { holdGuard } from '../../governance/guard.js'
import { acquireLane, type Lane } from '../../governance/lane.js'
import type { Task } from '../../governance/rows.js'
import type { Session } from '../../governance/session/types.js'
import { openCredential } from '../../governance/vault.js'
import { startDeadline, type Deadline } from '../../net/remaining.js'
import { alphaCredentialRef, alphaLimits } from '../constants.js'
import type { AlphaContext } from '../context.js'
import type { InferenceEnd } from '../next-step.js'
import type { AlphaReceipt } from '../receipt.js'
import { admitAsk, type Admission, type AskRequest } from './admit.js'
import { readBilling, type BillingResult } from './billing-stage.js'
import { contactProvider } from './contact.js'
import { errorOfEnd, replayedAsk } from './answer.js'
import { finishAsk, type AskEnd } from './finish.js'
import { type AskOperation } from './operation.js'
import { prepareAsk, type Prepared } from './prepare.js'

/** A succeeded ask. */
export interface AskResult {
  readonly task: Task
  readonly answer: string
  readonly receipt: AlphaReceipt
}

const queue = (operation: AskOperation): Promise<Task> =>
  operation.ctx.gov.store.transact('alpha ask', (tx) =>
    moveTask(tx, isoFromMs(operation.ctx.gov.clock.wallMs()), operation.taskId, 'queued', {
      budget_left_ms: operation.deadline.remainingMs(),
    }))

const waitForLane = (operation: AskOperation): Promise<Lane> => {
  const { gov, signal } = operation.ctx
  return acquireLane({
    dir: gov.store.dir, priority: 'interactive', deadlineMs: gov.clock.monotonicMs() + operation.deadline.remainingMs(),
    clock: gov.clock, signal,
  })
}

/** Why nothing was sent, from the error that stopped a step before contact. */
const notContacted = (error: unknown): InferenceEnd => {
  if (isAbort(error)) {
    return { kind: 'not_contacted', reason: 'ask_cancelled', errorKind: 'cancelled' }
  }
  if (!(error instanceof SallyportError)) throw error
  return {
    kind: 'not_contacted', reason: error.reason ?? error.code, errorKind: error.kind,
  }
}

/** The operator's stop as waits throw it: it ends the ask with a receipt, like any other cancel. */
const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

const noBill: BillingResult = { cost: null, reason: 'no_billing_identity' }

/** Steps 6 to 14, under the lane. The captured key outlives a revoke or rotation. */
const contactAndSettle = async (
  operation: AskOperation, prepared: Prepared,
): Promise<AskEnd> => {
  const key = openCredential(operation.ctx.gov, alphaCredentialRef)
  try {
    const inference = await contactProvider(operation, prepared, key)
    const uuid = inference.kind === 'reply' ? inference.verdict.billingUuid : null
    const billing = uuid === null ? noBill : await readBilling(operation, uuid, key)
    return await finishAsk(operation, {
      inference, billing, boundMicrousd: prepared.boundMicrousd,
    })
  } finally {
    key.fill(0)
  }
}

const runUnderLane = async (operation: AskOperation): Promise<AskEnd> => {
  const { observer } = operation.ctx.gov
  const before = { billing: noBill, boundMicrousd: 0 } as const
  let lane: Lane
  try {
    lane = await waitForLane(operation)
  } catch (error) {
    return finishAsk(operation, { ...before, inference: notContacted(error) })
  }
  try {
    await observer.at('ask.slot')
    let prepared: Prepared
    try {
      prepared = await prepareAsk(operation)
    } catch (error) {
      return await finishAsk(operation, { ...before, inference: notContacted(error) })
    }
    await observer.at('ask.reserved')
    return await contactAndSettle(operation, prepared)
  } finally {
    lane.release()
  }
}

/** Makes an interrupt durable at once, so that the row tells it even if this process dies. */
const recordInterrupt = (operation: AskOperation): (() => Promise<void>) => {
  const { gov, signal } = operation.ctx
  let recording: Promise<void> = Promise.resolve()
  const onAbort = (): void => {
    recording = gov.store.transact('alpha cancel', (tx) => {
      requestCancel(tx, isoFromMs(gov.clock.wallMs()), operation.session, operation.taskId)
    }).catch(() => undefined)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return () => {
    signal.removeEventListener('abort', onAbort)
    return recording
  }
}

const operationOf = (
  ctx: AlphaContext, session: Session, admission: Admission & { replayed: false },
  deadline: Deadline,
): AskOperation => ({
  ctx,
  session,
  taskId: admission.task.task_id,
  operationId: admission.task.operation_id,
  input: admission.input,
  deadline,
  holder: admission.task.operation_id,
})

/**
 * Asks. Throws for every ending but success; the error's details name the task, whose receipt
 * stays readable. A repeated idempotency key contacts nobody.
 */
export const ask = async (
  ctx: AlphaContext, session: Session, request: AskRequest,
): Promise<AskResult> => {
  const { gov } = ctx
  if (ctx.signal.aborted) throw fail.cancelled('ask_cancelled', 'The ask was cancelled.')
  const deadline = startDeadline(gov.clock, alphaLimits.operationMsMax)
  await gov.observer.at('ask.admit')
  const operationId = newId('op')
  // Held before the task exists, so that recovery never takes a live ask for a dead one.
  const guard = holdGuard(gov.store.dir, operationId)
  try {
    const admission = await admitAsk(ctx, session, request, { operationId, deadline })
    if (admission.replayed) return replayedAsk(ctx, session, admission.task)
    const operation = operationOf(ctx, session, admission, deadline)
    const stopRecording = recordInterrupt(operation)
    try {
      await gov.observer.at('ask.admitted')
      await queue(operation)
      await gov.observer.at('ask.queued')
      const end = await runUnderLane(operation)
      if (end.finish.errorKind !== null) throw errorOfEnd(end)
      return replayedAsk(ctx, session, end.task)
    } finally {
      await stopRecording()
    }
  } finally {
    guard.release()
  }
}
