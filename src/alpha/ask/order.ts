/**
 * One question as an order: admitted as a task, leased with its hold, one inference, the charge
 * read back, one closing record.
 */
import type { Order, Running, RunParts, Send, Step } from '../../contact/order.js'
import { requestCancel } from '../../governance/board/cancel.js'
import { moveTask } from '../../governance/board/move.js'
import { giversOf } from '../../governance/policy/consents.js'
import { judgeCompletion, type CompletionVerdict } from '../completion.js'
import {
  alphaChargeSources, alphaCredentialRef, alphaLimits, alphaProfile, alphaPurpose, alphaRuntime,
} from '../constants.js'
import { inferenceTimeoutMs } from '../next-step.js'
import { inferenceRequestBytes, inferenceUrl, providerHeaders } from '../request.js'
import { admitQuestion, type AskRequest, type SealedQuestion } from './admit.js'
import { noBill, readBilling } from './billing-stage.js'
import { closeAsk, moneyOfAsk, sealAnswer, type AskEnd, type AskEvidence } from './finish.js'
import { operationOf, stopIsCancel, type AskClaim, type Asking } from './operation.js'
import { decidePrepared, prepareAsk, requireAsk, requireStoredInput } from './prepare.js'
import type { Task } from '../../governance/rows.js'
import type { Tx } from '../../state/types.js'

/** What an ask came to; the task alone where an earlier ask of the same key was found. */
export type AskKept = AskEnd | { readonly task: Task; readonly finish: null }

const inferenceStep = (
  { ctx: { provider } }: Asking, { claimed, key, terms }: RunParts<AskClaim>,
): Step<CompletionVerdict> => ({
  authority: 'full',
  request: () => ({
    method: 'POST',
    url: inferenceUrl(provider.base_url),
    headers: providerHeaders(key.toString('latin1')),
    body: inferenceRequestBytes(claimed.input, provider.model_id),
    requestBytesMax: alphaLimits.requestBytesMax,
    replyBytesMax: alphaLimits.completionBytesMax,
  }),
  timeoutMs: (remainingMs) =>
    inferenceTimeoutMs({ timeoutSeconds: terms.requestMs / 1_000, remainingMs }),
  judge: (reply) => judgeCompletion(reply, { model: provider.model_id }),
})

const runAsk = async (
  asking: Asking, send: Send, parts: RunParts<AskClaim>,
): Promise<AskEvidence> => {
  const inference = await send(inferenceStep(asking, parts))
  const uuid = inference.kind === 'reply' ? inference.verdict.billingUuid : null
  const billing = uuid === null
    ? noBill : await readBilling(send, operationOf(asking, parts), uuid, parts.key)
  return { inference, billing }
}

/** A full disk loses the answer, not the bill; the end tells what the disk said. */
const keepAndClose = (
  asking: Asking,
): Pick<Order<AskClaim, AskEvidence, AskKept>, 'keep' | 'close'> => {
  let untaken: unknown
  return {
    keep: (evidence, run) => {
      try {
        return sealAnswer(operationOf(asking, run), evidence)
      } catch (error) {
        untaken = error
        return null
      }
    },
    close: (tx, now, run, facts) => closeAsk(operationOf(asking, run), tx, now, facts, untaken),
  }
}

/** The order of one sealed question; `spentMs` of its whole time went before. */
export const askOrder = (
  asking: Asking, request: AskRequest, sealed: SealedQuestion, spentMs = 0,
): Order<AskClaim, AskEvidence, AskKept> => ({
  step: 'ask',
  names: { claimed: 'admitted', sealed: 'answer_sealed' },
  verb: 'alpha ask',
  noun: 'ask',
  operationMsMax: alphaLimits.operationMsMax - spentMs,
  lane: 'interactive',
  runtime: alphaRuntime,
  profile: alphaProfile,
  sources: alphaChargeSources,
  credential: alphaCredentialRef,
  // An input that waits for its task outlives a refusal: its own time ends it.
  ...(request.inputArtifactId === undefined ? { sealed: sealed.artifact } : {}),
  claim: (tx, now, claiming) => {
    const { ctx, session } = asking
    const { task, replayed } = admitQuestion(ctx, tx, now, session, request, sealed, claiming)
    if (replayed) return { kind: 'replayed', kept: { task, finish: null } }
    const taskId = task.task_id
    return { kind: 'claimed', claimed: { taskId, input: sealed.input }, taskId }
  },
  ...(stopIsCancel(asking) ? {
    onStop: (tx: Tx, now: string, { claimed }: Running<AskClaim>) => {
      requestCancel(tx, now, asking.session, claimed.taskId)
    },
  } : {}),
  enqueue: (tx, now, { claimed, deadline }) => {
    moveTask(tx, now, claimed.taskId, 'queued', { budget_left_ms: deadline.remainingMs() })
  },
  prepare: (tx, now, run) => prepareAsk(operationOf(asking, run), tx, now),
  decide: (tx, _now, run) => decidePrepared(operationOf(asking, run), tx),
  authority: (view, boundary, run) => {
    const operation = operationOf(asking, run)
    const revision = requireAsk(operation, view)
    // Opening what is sealed takes long for a lock; the checks around the mark have no lock.
    if (boundary === 'check') requireStoredInput(operation, view)
    return revision
  },
  party: (_run, view) => ({
    principal: asking.session.principal.principal_id, root: asking.session.root.root_id,
    givers: giversOf(view, [alphaPurpose]), provider: asking.ctx.provider.name,
  }),
  run: (send, parts) => runAsk(asking, send, parts),
  unsent: (inference) => ({ inference, billing: noBill }),
  money: (evidence, { operationId }) => moneyOfAsk(operationId, evidence),
  ...keepAndClose(asking),
  details: ({ claimed }) => ({ task_id: claimed.taskId }),
})
