/**
 * Steps 13 and 14, in one record: the charge, the task's end, the receipt and, only while every
 * authority still stands, the answer. There is no moment in which a settled charge has lost its
 * answer to a crash, and none in which an answer is readable before its charge is known.
 */
import { digestOf } from '../../base/canonical.js'
import { isoFromMs } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { discardStored, registerArtifact, requireArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { moveTask, type TaskPatch } from '../../governance/board/move.js'
import { getJob, getTask } from '../../governance/board/read.js'
import { isOutstanding } from '../../governance/board/states.js'
import { findReservation } from '../../governance/ledger/read.js'
import { markUnknown, release, settle } from '../../governance/ledger/steps.js'
import { persist } from '../../governance/persist.js'
import { policyAt, policyHead } from '../../governance/policy/head.js'
import { collections, type Task } from '../../governance/rows.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import { buildBillingEvidence } from '../billing.js'
import { alphaArtifactLabels } from '../constants.js'
import { decideFinish, unaccounted, type Finish, type InferenceEnd } from '../next-step.js'
import { buildReceipt, type AlphaReceipt } from '../receipt.js'
import { authorityLost } from './authority.js'
import type { BillingResult } from './billing-stage.js'
import { bindingOf, cancelWanted, type AskOperation } from './operation.js'

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
export interface EndFacts {
  readonly inference: InferenceEnd
  readonly billing: BillingResult
  readonly boundMicrousd: number
}

const moneyStep = (operation: AskOperation, tx: Tx, now: string, ended: {
  finish: Finish; facts: EndFacts; uuid: string | null
}): void => {
  const reservation = findReservation(tx, operation.operationId)
  if (!reservation) return
  const binding = bindingOf(operation)
  const { finish, facts: { billing }, uuid } = ended
  if (finish.ledger === 'release') {
    release(tx, now, { ...binding, proof: 'no_request_byte_sent' })
  } else if (finish.ledger === 'settle' && billing.cost !== null && uuid !== null) {
    const evidence = buildBillingEvidence({
      operationId: operation.operationId, billingUuid: uuid, cost: billing.cost,
      attempt: billing.attempt,
    })
    settle(tx, now, { ...binding, chargedMicrousd: billing.cost.microUsd, evidence })
  } else {
    const reason = billing.cost === null ? billing.reason : 'charge_not_bound'
    markUnknown(tx, now, { ...binding, reason })
  }
}

/**
 * Takes the money's step, or, when the rows refuse it (they contradict the reservation, or recovery
 * took this process for dead), leaves it where it is: the liability stays, no answer is released,
 * and the task ends now rather than at the next recovery. A ledger step checks everything
 * before it writes anything.
 */
const account = (...step: Parameters<typeof moneyStep>): Finish => {
  const { finish, facts } = step[3]
  try {
    moneyStep(...step)
    return finish
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    // Recovery has given the hold of an unsent question back already.
    if (error.kind === 'conflict' && facts.inference.kind === 'not_contacted') return finish
    if (error.kind === 'blocked' || error.kind === 'conflict') return unaccounted
    throw error
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

/** Where the overrun review finds the answer that waits for it. */
const noteHeld = (tx: Tx, task: Task, artifactId: string): void => {
  const job = getJob(tx, task)
  tx.put(collections.jobs, job.job_id, {
    ...job, progress: { ...job.progress, held_artifact_id: artifactId },
  })
}

/** The receipt of a task as its rows stand in this transaction; stored in the job record. */
export const writeReceipt = (
  tx: Tx, now: string, task: Task, provider: AskOperation['ctx']['provider'],
): AlphaReceipt => {
  const job = getJob(tx, task)
  const route = tx.get(collections.routes, task.operation_id) ?? null
  const input = requireArtifact(tx, task.input_artifact_id)
  const reservation = findReservation(tx, task.operation_id) ?? null
  const rows = (reservation?.row_ids ?? []).map((id) => tx.get(collections.ledgerRows, id))
  const result = task.result_artifact_id === null
    ? undefined : tx.get(collections.artifacts, task.result_artifact_id)
  const policy = route === null
    ? policyHead(tx) : policyAt(tx, route.policy_revision) ?? policyHead(tx)
  const uuid = job.progress['billing_uuid']
  const receipt = buildReceipt({
    task, job, route, reservation, provider,
    settlement: rows.findLast((row) => row?.kind === 'settle' || row?.kind === 'manual_settle')
      ?? null,
    inputDigest: input.ref.sha256,
    outputDigest: result?.ref.sha256 ?? null,
    policy: { revision: policy.revision, digest: digestOf(policy) },
    billingUuid: typeof uuid === 'string' ? uuid : null,
  })
  tx.put(collections.jobs, job.job_id, { ...job, receipt, updated_at: now })
  return receipt
}

/** The receipt of this end; none where the rows that refused the money's step allow none. */
const writeEndReceipt = (
  tx: Tx, now: string, task: Task, finish: Finish, provider: AskOperation['ctx']['provider'],
): AlphaReceipt | null => {
  try {
    return writeReceipt(tx, now, task, provider)
  } catch (error) {
    if (finish === unaccounted) return null
    throw error
  }
}

const commitEnd = (
  operation: AskOperation, tx: Tx, facts: EndFacts, sealed: ArtifactRef | null,
): AskEnd => {
  const { gov, provider } = operation.ctx
  const now = isoFromMs(gov.clock.wallMs())
  const task = getTask(tx, operation.taskId)
  const verdict = facts.inference.kind === 'reply' ? facts.inference.verdict : null
  const decided = decideFinish({
    inference: facts.inference,
    cost: facts.billing.cost,
    boundMicrousd: facts.boundMicrousd,
    authorityLost: verdict?.ok === true && sealed === null
      ? 'answer_not_stored' : authorityLost(operation.ctx, tx, task, operation.input),
    cancelRequested: cancelWanted(operation, task),
  })
  const uuid = verdict?.billingUuid ?? null
  const finish = account(operation, tx, now, { finish: decided, facts, uuid })
  const keeps = sealed !== null && finish.answer !== 'drop'
  const resultId = keeps
    ? registerAnswer(operation, tx, now, task, sealed, finish.adopt) : null
  const ended = endTask(operation, tx, now, finish, finish.adopt ? resultId : null)
  if (finish.answer === 'hold' && resultId !== null) noteHeld(tx, task, resultId)
  const route = tx.get(collections.routes, operation.operationId)
  if (route) {
    tx.put(collections.routes, operation.operationId, { ...route, outcome: finish.task.state })
  }
  const receipt = writeEndReceipt(tx, now, ended, finish, provider)
  appendAudit(tx, now, {
    what: 'alpha.ended', principal: task.owner, root: task.original_root, subject: task.task_id,
    facts: { state: ended.state, ledger: finish.ledger, adopted: finish.adopt },
  })
  return { task: ended, finish, receipt, cause: causeOf(facts) }
}

const causeOf = ({ inference }: EndFacts): unknown =>
  inference.kind === 'reply' ? undefined : inference.cause

/** Seals an accepted answer, if its charge is known; a full disk loses the answer, not the bill. */
const sealAnswer = (operation: AskOperation, facts: EndFacts): ArtifactRef | null => {
  const { inference, billing } = facts
  if (inference.kind !== 'reply' || !inference.verdict.ok || billing.cost === null) return null
  const plaintext = Buffer.from(inference.verdict.answer, 'utf8')
  try {
    return operation.ctx.gov.store.artifacts.write(alphaArtifactLabels.answer, plaintext)
  } catch {
    return null
  } finally {
    plaintext.fill(0)
  }
}

/** Commits the end; an answer that no committed row names leaves the disk, also on a refusal. */
const commitOrDrop = async (
  operation: AskOperation, facts: EndFacts, sealed: ArtifactRef | null,
): Promise<AskEnd> => {
  const { deadline, ctx: { gov, gov: { store } } } = operation
  const contacted = facts.inference.kind !== 'not_contacted'
  const leftMs = (): number => (contacted ? deadline.remainingMs() : 0)
  let drops = true
  try {
    return await persist(gov, 'alpha ask', leftMs, (tx) => {
      const end = commitEnd(operation, tx, facts, sealed)
      // From here on a row may name it, also when the disk fails: then nobody knows.
      drops = end.finish.answer === 'drop'
      return end
    })
  } finally {
    if (sealed !== null && drops) discardStored(store, sealed.stored_sha256)
  }
}

/** Makes the outcome durable. Only a held or adopted answer stays on disk, sealed. */
export const finishAsk = async (operation: AskOperation, facts: EndFacts): Promise<AskEnd> => {
  const { gov } = operation.ctx
  await gov.observer.at('ask.charge_known')
  const sealed = sealAnswer(operation, facts)
  await gov.observer.at('ask.answer_sealed')
  const end = await commitOrDrop(operation, facts, sealed)
  await gov.observer.at('ask.finished')
  return end
}
