/** One question, one answer, one receipt. What is sent is never sent again. */
import { fail, SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Session } from '../../governance/context.js'
import type { AlphaContext } from '../context.js'
import { askedBefore, checkQuestion, sealQuestion, type AskRequest } from './admit.js'
import { answerOfTask, errorOfTask, repeatedAnswer, type AskResult } from './answer.js'
import type { Asking } from './operation.js'
import { askOrder, type AskKept } from './order.js'
import { startTurn, type Turn, type Wait } from './turn.js'

/** Whether another ask of the owner has its place. */
const isOutstanding = (error: unknown): boolean =>
  error instanceof SallyportError && error.code === 'operation_outstanding'

/** Admits and runs, once it is its turn; another ask may have been faster all the same. */
const runInTurn = async (asking: Asking, request: AskRequest, turn: Turn): Promise<AskKept> => {
  const { ctx, session } = asking
  const isAsked = (): boolean =>
    askedBefore(ctx.gov, ctx.gov.store.read(), session, request) !== null
  for (;;) {
    await ctx.gov.observer.at('ask.admit')
    const waits = turn.isLeft()
    const before = await checkQuestion(ctx, session, request, waits)
    if ('replayed' in before) return { task: before.replayed, finish: null }
    await turn.wait(isAsked)
    if (waits && !isAsked()) turn.requirePlace()
    // What was free before the wait says nothing of now.
    const checked = waits ? await checkQuestion(ctx, session, request) : before
    if ('replayed' in checked) return { task: checked.replayed, finish: null }
    const sealed = sealQuestion(ctx, request, checked)
    try {
      return await runOrder(ctx, askOrder(asking, request, sealed, turn.spentMs()))
    } catch (error) {
      if (!isOutstanding(error) || !turn.isLeft()) throw error
    }
  }
}

const noWait: Wait = { ms: 0, recover: async () => undefined }

/**
 * Asks. Throws for every ending but success; the error's details name the task, whose receipt
 * stays readable. A repeated idempotency key contacts nobody, and finds the answer from a later
 * session of its owner too. Without `wait` it is refused at once while another ask of the owner
 * is outstanding.
 */
export const ask = async (
  ctx: AlphaContext, session: Session, request: AskRequest, wait: Wait = noWait,
): Promise<AskResult> => {
  if (ctx.signal.aborted) throw fail.cancelled('ask_cancelled', 'The ask was cancelled.')
  const asking = { ctx, session }
  const turn = startTurn(asking, wait)
  let end: AskKept
  try {
    end = await runInTurn(asking, request, turn)
  } finally {
    turn.end()
  }
  // Asked before, or by another process meanwhile, perhaps for another session.
  if (end.finish === null) return repeatedAnswer(ctx, session, end.task)
  if (end.finish.errorKind !== null) {
    throw errorOfTask(end.task, { kind: end.finish.errorKind, cause: end.cause })
  }
  return answerOfTask(ctx, session, end.task)
}
