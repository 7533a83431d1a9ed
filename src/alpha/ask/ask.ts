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
import { errorOfEnd, errorUnrecorded, replayedAsk } from './answer.js'
import { finishAsk, type AskEnd, type EndFacts } from './finish.js'
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
  const { deadline, ctx: { gov, signal } } = operation
  return acquireLane({
    dir: gov.store.dir, priority: 'interactive', clock: gov.clock, signal,
    deadlineMs: gov.clock.monotonicMs() + deadline.remainingMs(),
  })
}

/** Why nothing was sent, from the error that stopped a step before contact. */
const notContacted = (cause: unknown): InferenceEnd => {
  const kind = 'not_contacted'
  if (isAbort(cause)) return { kind, reason: 'ask_cancelled', errorKind: 'cancelled', cause }
  if (!(cause instanceof SallyportError)) {
    return { kind, reason: 'unexpected', errorKind: 'failed', cause }
  }
  return { kind, reason: cause.reason ?? cause.code, errorKind: cause.kind, cause }
}

/** The operator's stop as waits throw it: it ends the ask with a receipt, like any other cancel. */
const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

const noBill: BillingResult = { cost: null, reason: 'no_billing_identity' }

/** Records the end; what keeps it from being recorded is told as what it means for the money. */
const finish = async (operation: AskOperation, facts: EndFacts): Promise<AskEnd> => {
  try {
    return await finishAsk(operation, facts)
  } catch (error) {
    throw errorUnrecorded(operation, facts.inference, error)
  }
}

/**
 * Ends an operation that was stopped before contact, whatever stopped it: its task and its hold do
 * not wait for the next recovery. A defect is thrown on after that, with its stack.
 */
const endUnsent = async (operation: AskOperation, error: unknown): Promise<AskEnd> => {
  const end = await finish(operation, {
    inference: notContacted(error), billing: noBill, boundMicrousd: 0,
  })
  if (error instanceof SallyportError || isAbort(error)) return end
  throw error
}

/** Steps 6 to 14. The captured key outlives a revoke or rotation. */
const contactAndSettle = async (
  operation: AskOperation, prepared: Prepared, key: Buffer,
): Promise<AskEnd> => {
  const inference = await contactProvider(operation, prepared, key)
  const uuid = inference.kind === 'reply' ? inference.verdict.billingUuid : null
  const billing = uuid === null ? noBill : await readBilling(operation, uuid, key)
  return finish(operation, { inference, billing, boundMicrousd: prepared.boundMicrousd })
}

const runUnderLane = async (operation: AskOperation): Promise<AskEnd> => {
  const { gov } = operation.ctx
  let prepared: Prepared
  let key: Buffer
  try {
    await gov.observer.at('ask.slot')
    prepared = await prepareAsk(operation)
    await gov.observer.at('ask.reserved')
    key = openCredential(gov, alphaCredentialRef)
  } catch (error) {
    return endUnsent(operation, error)
  }
  try {
    return await contactAndSettle(operation, prepared, key)
  } finally {
    key.fill(0)
  }
}

const runAdmitted = async (operation: AskOperation): Promise<AskEnd> => {
  const { observer } = operation.ctx.gov
  let lane: Lane
  try {
    await observer.at('ask.admitted')
    await queue(operation)
    await observer.at('ask.queued')
    lane = await waitForLane(operation)
  } catch (error) {
    return endUnsent(operation, error)
  }
  try {
    return await runUnderLane(operation)
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
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
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
      const end = await runAdmitted(operation)
      if (end.finish.errorKind !== null) throw errorOfEnd(end)
      return replayedAsk(ctx, session, end.task)
    } finally {
      await stopRecording()
    }
  } finally {
    guard.release()
  }
}
