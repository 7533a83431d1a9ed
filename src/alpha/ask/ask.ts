/** One question, one answer, one receipt. What is sent is never sent again. */
import { fail } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Session } from '../../governance/session/types.js'
import type { AlphaContext } from '../context.js'
import { sealQuestion, type AskRequest } from './admit.js'
import { answerOfTask, errorOfTask, repeatedAnswer, type AskResult } from './answer.js'
import { askOrder } from './order.js'

/**
 * Asks. Throws for every ending but success; the error's details name the task, whose receipt
 * stays readable. A repeated idempotency key contacts nobody, and finds the answer from a later
 * session of its owner too.
 */
export const ask = async (
  ctx: AlphaContext, session: Session, request: AskRequest,
): Promise<AskResult> => {
  if (ctx.signal.aborted) throw fail.cancelled('ask_cancelled', 'The ask was cancelled.')
  await ctx.gov.observer.at('ask.admit')
  const sealed = await sealQuestion(ctx, session, request)
  if ('replayed' in sealed) return repeatedAnswer(ctx, session, sealed.replayed)
  const end = await runOrder(ctx, askOrder({ ctx, session }, request, sealed))
  // Another process asked the same meanwhile, perhaps for another session.
  if (end.finish === null) return repeatedAnswer(ctx, session, end.task)
  if (end.finish.errorKind !== null) throw errorOfTask(end.task, end)
  return answerOfTask(ctx, session, end.task)
}
