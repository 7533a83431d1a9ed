/**
 * The end of an ask, in one record: the charge, the task's end, the receipt and, only while every
 * authority still stands, the answer. There is no moment in which a settled charge has lost its
 * answer to a crash, and none in which an answer is readable before its charge is known.
 */
import type { Closed, Closing, MoneyEnd, Outcome } from '../../contact/order.js'
import { receiptBase } from '../../contact/receipt.js'
import { registerArtifact, requireArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { moveTask, type TaskPatch } from '../../governance/board/move.js'
import { getJob, getTask } from '../../governance/board/visible-tasks.js'
import { isOutstanding } from '../../governance/board/states.js'
import { collections, type Task } from '../../governance/rows.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import { finishReasonOf } from '../../base/finish-reason.js'
import { buildBillingEvidence } from '../billing.js'
import type { CompletionVerdict } from '../completion.js'
import { alphaArtifactLabels, type AlphaProvider } from '../constants.js'
import { decideFinish, unaccounted, type Finish } from '../next-step.js'
import { buildReceipt, type AlphaReceipt } from '../receipt.js'
import { answerStatus } from './authority.js'
import type { BillingResult } from './billing-stage.js'
import { cancelWanted, type AskOperation } from './operation.js'

/** How the ask ended, with its receipt. */
export interface AskEnd {
  readonly task: Task
  readonly finish: Finish
  /** Null only where altered rows allow none. */
  readonly receipt: AlphaReceipt | null
  /** What was thrown on the way to this ending, if anything. */
  readonly cause?: unknown
}

/** Everything that is known when the outcome becomes durable. */
export interface AskEvidence {
  readonly inference: Outcome<CompletionVerdict>
  readonly billing: BillingResult
}

/** The charge, where the reply is named that it is billed under; else the full liability stays. */
export const moneyOfAsk = (operationId: string, evidence: AskEvidence): MoneyEnd => {
  const { inference, billing } = evidence
  if (inference.kind === 'unsent') return { ledger: 'release' }
  const uuid = inference.kind === 'reply' ? inference.verdict.billingUuid : null
  if (billing.cost === null) return { ledger: 'unknown', reason: billing.reason }
  if (uuid === null) return { ledger: 'unknown', reason: 'charge_not_bound' }
  const { cost, attempt } = billing
  return {
    ledger: 'settle', chargedMicrousd: cost.microUsd,
    evidence: buildBillingEvidence({ operationId, billingUuid: uuid, cost, attempt }),
  }
}

const registerAnswer = (
  operation: AskOperation, tx: Tx, now: string, task: Task, sealed: ArtifactRef, adopted: boolean,
): string => registerArtifact(tx, now, {
  label: alphaArtifactLabels.answer, ref: sealed, owner: task.owner,
  taskId: operation.taskId, adopted,
}).artifact_id

const patchOf = (task: Finish['task'], resultId: string | null): TaskPatch => {
  if (task.state === 'blocked') return { blocked: { kind: task.kind, reason: task.reason } }
  if (task.state !== 'succeeded') return { reason: task.reason }
  return resultId === null ? {} : { result_artifact_id: resultId }
}

const endTask = (
  operation: AskOperation, tx: Tx, now: string, finish: Finish, resultId: string | null,
): Task => {
  const { task } = finish
  const before = getTask(tx, operation.taskId)
  // A cancel that came before the lease has ended the task already, or a recovery that took this
  // process for dead, because somebody removed its guard.
  if (!isOutstanding(before.state)) return before
  return moveTask(tx, now, operation.taskId, task.state, patchOf(task, resultId))
}

/** Where the review finds the answer that waits for it. */
const noteHeld = (tx: Tx, task: Task, artifactId: string): void => {
  const job = getJob(tx, task)
  tx.put(collections.jobs, job.job_id, {
    ...job, progress: { ...job.progress, held_artifact_id: artifactId },
  })
}

/** Why the provider said that an accepted answer ended; its receipt tells it, also later. */
const noteFinish = (tx: Tx, task: Task, { inference }: AskEvidence): void => {
  if (inference.kind !== 'reply' || !inference.verdict.ok) return
  const job = getJob(tx, task)
  const { finish } = inference.verdict
  if (finish === null) return
  tx.put(collections.jobs, job.job_id, {
    ...job, progress: { ...job.progress, finish_reason: finish },
  })
}

/** How the first run was told that it failed, so that a repeat of its key ends alike. */
const noteErrorKind = (tx: Tx, task: Task, { errorKind }: Finish): void => {
  if (task.state !== 'failed' || errorKind === null) return
  const job = getJob(tx, task)
  tx.put(collections.jobs, job.job_id, {
    ...job, progress: { ...job.progress, error_kind: errorKind },
  })
}

/** The receipt of a task as its rows stand in this transaction; stored in the job record. */
export const writeReceipt = (
  tx: Tx, now: string, task: Task, provider: AlphaProvider,
): AlphaReceipt => {
  const job = getJob(tx, task)
  const input = requireArtifact(tx, task.input_artifact_id)
  const result = task.result_artifact_id === null
    ? undefined : tx.get(collections.artifacts, task.result_artifact_id)
  const uuid = job.progress['billing_uuid']
  const receipt = buildReceipt({
    task, job, provider, ...receiptBase(tx, task.operation_id),
    inputDigest: input.ref.sha256,
    outputDigest: result?.ref.sha256 ?? null,
    billingUuid: typeof uuid === 'string' ? uuid : null,
    finishReason: finishReasonOf(job.progress['finish_reason']),
  })
  tx.put(collections.jobs, job.job_id, { ...job, receipt, updated_at: now })
  return receipt
}

/** The receipt of this end; none where the rows that refused the money's step allow none. */
const writeEndReceipt = (
  tx: Tx, now: string, task: Task, finish: Finish, provider: AlphaProvider,
): AlphaReceipt | null => {
  try {
    return writeReceipt(tx, now, task, provider)
  } catch (error) {
    if (finish === unaccounted) return null
    throw error
  }
}

const causeOf = ({ inference }: AskEvidence): unknown =>
  inference.kind === 'reply' ? undefined : inference.cause

/**
 * Ends the task with its answer and its receipt; the money has taken its step by then. `untaken`:
 * what kept an accepted answer from being sealed.
 */
export const closeAsk = (
  operation: AskOperation, tx: Tx, now: string,
  { evidence, sealed, terms, refusal }: Closing<AskEvidence>, untaken: unknown,
): Closed<AskEnd> => {
  const { provider } = operation.ctx
  const task = getTask(tx, operation.taskId)
  const { inference, billing } = evidence
  const accepted = inference.kind === 'reply' && inference.verdict.ok
  const { lost, suspended } = answerStatus(operation.ctx, tx, task, operation.input)
  // Where the rows refused the money's step no answer is released, and the task ends now.
  const finish = refusal !== null ? unaccounted : decideFinish({
    inference,
    cost: billing.cost,
    boundMicrousd: terms?.hold?.boundMicrousd ?? 0,
    authorityLost: lost,
    suspended,
    unstored: accepted && sealed === null,
    cancelRequested: cancelWanted(operation, task, inference.kind !== 'unsent'),
  })
  const adopts = sealed !== null && finish.answer !== 'drop'
  const resultId = adopts
    ? registerAnswer(operation, tx, now, task, sealed, finish.adopt) : null
  const ended = endTask(operation, tx, now, finish, finish.adopt ? resultId : null)
  if (finish.answer === 'hold' && resultId !== null) noteHeld(tx, task, resultId)
  noteFinish(tx, ended, evidence)
  noteErrorKind(tx, ended, finish)
  const receipt = writeEndReceipt(tx, now, ended, finish, provider)
  appendAudit(tx, now, {
    what: 'alpha.ended', principal: task.owner, root: task.original_root, subject: task.task_id,
    facts: { state: ended.state, ledger: finish.ledger, adopted: finish.adopt },
  })
  const kept = { task: ended, finish, receipt, cause: untaken ?? causeOf(evidence) }
  return { kept, outcome: finish.task.state, adopts }
}

/** Seals an accepted answer, if its charge is known. Throws what the disk says. */
export const sealAnswer = (
  operation: AskOperation, { inference, billing }: AskEvidence,
): ArtifactRef | null => {
  if (inference.kind !== 'reply' || !inference.verdict.ok || billing.cost === null) return null
  const plaintext = Buffer.from(inference.verdict.answer, 'utf8')
  try {
    return operation.ctx.gov.store.artifacts.write(alphaArtifactLabels.answer, plaintext)
  } finally {
    plaintext.fill(0)
  }
}
