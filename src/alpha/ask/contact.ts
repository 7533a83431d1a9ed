/**
 * Steps 6 to 10: the one inference request. The contact mark becomes durable, with the policy read
 * again in the same transaction, before anything is dialled; authority is asked three times. What
 * comes back is judged and nothing of it is kept but an accepted answer and the billing UUID.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import { markContacted, recheckRow } from '../../governance/ledger/steps.js'
import { collections, type Task } from '../../governance/rows.js'
import type { View } from '../../state/types.js'
import { contactOf, noteContact } from '../../net/contact-error.js'
import { judgeCompletion } from '../completion.js'
import { alphaArtifactLabels, alphaLimits } from '../constants.js'
import { encodeInput } from '../input.js'
import { inferenceTimeoutMs, type InferenceEnd } from '../next-step.js'
import { inferenceRequestBytes, inferenceUrl, providerHeaders } from '../request.js'
import { requireContact } from './authority.js'
import { bindingOf, type AskOperation } from './operation.js'
import { requireRunnable, type Prepared } from './prepare.js'

/** Authority as the log has it now; throws to refuse the contact. */
const checkAuthority = (operation: AskOperation): void => {
  const view = operation.ctx.gov.store.read()
  const task = requireRunnable(operation, view, ['running'])
  requireContact(operation, view, task, view.get(collections.routes, operation.operationId))
  requireStoredInput(operation, view, task)
}

/** What is sent must be what the stored input still says, to the byte. */
const requireStoredInput = (operation: AskOperation, view: View, task: Task): void => {
  const stored = readArtifact(
    operation.ctx.gov, view, task.input_artifact_id, alphaArtifactLabels.input,
  )
  try {
    if (stored.equals(encodeInput(operation.input))) return
  } finally {
    stored.fill(0)
  }
  throw fail.blocked('input_altered', 'The stored input is not the one that was admitted.', {
    reason: 'input_altered', next: 'Nothing was sent. Run: sallyport state check',
  })
}

/** The last decision and the mark are one record: a revoke comes before it or after it. */
const markContact = (operation: AskOperation): Promise<void> =>
  operation.ctx.gov.store.transact('alpha ask', (tx) => {
    const now = isoFromMs(operation.ctx.gov.clock.wallMs())
    const task = requireRunnable(operation, tx, ['running'])
    const route = tx.get(collections.routes, operation.operationId)
    const { policyRevision } = requireContact(operation, tx, task, route)
    const binding = bindingOf(operation)
    recheckRow(tx, now, { ...binding, policyRevision })
    markContacted(tx, now, binding)
    if (!route) throw new TypeError('a prepared operation has a route record')
    tx.put(collections.routes, operation.operationId, { ...route, contacted_at: now })
    tx.mark()
  })

const endOf = (error: unknown): InferenceEnd => {
  const known = error instanceof SallyportError
  const reason = known ? error.reason ?? error.code : 'unexpected'
  if (contactOf(error) !== 'none') return { kind: 'no_reply', reason, cause: error }
  return { kind: 'not_contacted', reason, errorKind: known ? error.kind : 'failed', cause: error }
}

/** The client and the exact bytes, made before there is anything that could be contacted. */
const equip = async ({ ctx, input }: AskOperation) => {
  const body = inferenceRequestBytes(input, ctx.provider.model_id)
  const client = await ctx.client()
  return { body, client }
}

/**
 * The operator's stop, as far as it may end the request: only until the first byte may leave. From
 * then on the reply is waited for, because it names the charge.
 */
const stopBeforeFirstByte = (stop: AbortSignal) => {
  const controller = new AbortController()
  const onStop = (): void => controller.abort()
  stop.addEventListener('abort', onStop, { once: true })
  return { signal: controller.signal, end: () => stop.removeEventListener('abort', onStop) }
}

/** Sends the question once, or proves that it was not sent. */
export const contactProvider = async (
  operation: AskOperation, prepared: Prepared, key: Buffer,
): Promise<InferenceEnd> => {
  const { ctx } = operation
  const { observer } = ctx.gov
  let equipment: Awaited<ReturnType<typeof equip>>
  try {
    equipment = await equip(operation)
  } catch (error) {
    noteContact(error, 'none')
    return endOf(error)
  }
  const timeoutMs = inferenceTimeoutMs({
    timeoutSeconds: prepared.timeoutSeconds, remainingMs: operation.deadline.remainingMs(),
  })
  if (timeoutMs === null) {
    return { kind: 'not_contacted', reason: 'deadline_passed', errorKind: 'locked' }
  }
  const stop = stopBeforeFirstByte(ctx.signal)
  try {
    const { client, body } = equipment
    const reply = await client.request({
      method: 'POST',
      url: inferenceUrl(ctx.provider.base_url),
      headers: providerHeaders(key.toString('latin1')),
      body,
      requestBytesMax: alphaLimits.requestBytesMax,
      replyBytesMax: alphaLimits.completionBytesMax,
      timeoutMs,
      signal: stop.signal,
      authority: async (point) => {
        await observer.at(`ask.${point}`)
        checkAuthority(operation)
        if (point === 'before_first_byte') stop.end()
      },
      markContact: async () => {
        await observer.at('ask.contact_begin')
        await markContact(operation)
        await observer.at('ask.contact_intent')
      },
    })
    await observer.at('ask.replied')
    return {
      kind: 'reply', verdict: judgeCompletion(reply, { model: ctx.provider.model_id }),
    }
  } catch (error) {
    return endOf(error)
  } finally {
    stop.end()
  }
}
