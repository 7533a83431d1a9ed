/**
 * Evidence for every effect of a follow-through job that may have happened: a protected read of
 * now, or an earlier sealed readback of the very same serialized intent. Nothing is written here
 * (C-021, C-154, C-192, C-241, C-242).
 */
import { digestOf } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import { findTask } from '../../governance/board/place.js'
import type { Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { readbackOf } from '../adapter/readback.js'
import { judgeRepositoryReply } from '../adapter/repository-reply.js'
import { journalLabel, planLabel } from '../constants.js'
import { jobEntries, effectHistory, readHistory } from '../jobs/histories.js'
import { effectOf, openPlan, type FollowPlan, type PlannedEffect } from '../jobs/plan.js'
import {
  isSealed, mintReceipt, receiptCollection, receiptsByJob, type ReadReceipt, type ReceiptRow,
} from '../jobs/receipt.js'
import type { Job } from '../jobs/rows.js'
import { hostPath, repositoryOf } from '../repository.js'
import { closureBlocked } from './blockers.js'
import type { ClosureGet } from './get.js'
import { followInventory, hasUnknownKind } from './inventory.js'
import { blockerOf } from './readback.js'
import type { CloseRequest } from './request.js'

/** What has to be proved of a follow-through job. */
export interface FollowTarget {
  readonly job: Job
  readonly plan: FollowPlan
  readonly effect: PlannedEffect
  /** The host's number: recorded, or else given as a hint. */
  readonly remoteId: number
  /** A sealed readback of before, which serves in place of a read. */
  readonly earlier: ReceiptRow | null
}

/** What proves it. */
export interface Evidence {
  /** Of this closure. */
  readonly receipts: readonly ReadReceipt[]
  /** Of earlier operations. */
  readonly earlier: readonly ReceiptRow[]
}

/** The plan as it lies there, whatever it says. */
const rawPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): unknown => {
  try {
    const bytes = readArtifact(gov, view, job.plan.artifact_id, planLabel)
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch (error) {
    const missing = error instanceof SallyportError
      && (error.kind === 'not_found' || error.code === 'evidence_missing')
    throw closureBlocked(
      missing ? 'prepared_bytes_missing' : 'prepared_bytes_altered', job.job_id, error)
  }
}

const openedPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): FollowPlan => {
  const raw = rawPlan(gov, view, job)
  if (hasUnknownKind(raw)) throw closureBlocked('effect_kind_unknown', job.job_id)
  try {
    return openPlan(gov, view, job)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw closureBlocked('prepared_bytes_altered', job.job_id, error)
  }
}

const isOfJob = ({ receipt }: ReceiptRow, view: View, job: Job): boolean => {
  const task = job.task_id === null ? undefined : findTask(view, job.task_id)
  return receipt.job_id === job.job_id && receipt.principal === job.owner
    && receipt.root === job.root && receipt.native_kind === job.native_kind
    && receipt.capability === job.capability && receipt.attempt === job.attempt
    && receipt.count === job.contacted && receipt.authority_sha256 === job.authority_sha256
    && receipt.input_sha256 === job.input_sha256 && receipt.run_sha256 === job.run_sha256
    && receipt.task?.attempt === task?.attempt && receipt.task?.fence === task?.lease_fence
    && digestOf(receipt.write_binding) === digestOf(job.consent)
    && digestOf(receipt.vault) === digestOf(job.vault)
    && receipt.connection_id === job.connection_id && receipt.repository === job.repository
    && receipt.repository_id === job.repository_id
}

const isOfEffect = (
  { receipt: { effect: told } }: ReceiptRow, effect: PlannedEffect, remoteId: number,
): boolean => told.effect_id === effect.effect_id && told.number === effect.number
  && told.action === effect.action && told.path === effect.path
  && told.body_sha256 === effect.body_sha256 && told.idempotency === effect.idempotency
  && told.remote_id === remoteId

/** The receipt lies in the sealed journal that its row names, and the READ history names both. */
const isKept = (gov: Pick<Gov, 'store'>, view: View, { receipt, journal }: ReceiptRow): boolean => {
  const named = jobEntries(view, readHistory, receipt.job_id).some(({ receipts, journals }) =>
    receipts.includes(receipt.readback_sha256) && journals.some((one) =>
      one.artifact_id === journal.artifact_id && one.sha256 === journal.sha256))
  if (!named) return false
  try {
    const bytes = readArtifact(gov, view, journal.artifact_id, journalLabel)
    const { receipts } = JSON.parse(bytes.toString('utf8')) as { receipts: readonly unknown[] }
    return receipts.some((one) => digestOf(one) === digestOf(receipt))
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

/** An earlier sealed readback of the very same serialized intent; null where there is none. */
const earlierReadback = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, effect: PlannedEffect, remoteId: number,
): ReceiptRow | null => rowsUnder(view, receiptCollection, receiptsByJob, { under: [job.job_id] })
  .map(({ doc }) => doc)
  .find((row) => isSealed(gov.store, row) && isOfJob(row, view, job)
    && isOfEffect(row, effect, remoteId) && isKept(gov, view, row)) ?? null

/**
 * What has to be proved, out of rows and sealed content. Throws `blocked` `closure_blocked` for
 * what no read can prove.
 */
export const followTarget = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, { remote_id: hint }: CloseRequest,
): FollowTarget => {
  const plan = openedPlan(gov, view, job)
  const inventory = followInventory(job, plan, jobEntries(view, effectHistory, job.job_id))
  if ('blocked' in inventory) throw closureBlocked(inventory.blocked, job.job_id)
  const { number, remoteId: recorded } = inventory.effect
  const effect = effectOf(plan, number)
  if (recorded !== null && hint !== undefined && hint !== recorded) {
    throw closureBlocked('remote_id_differs', job.job_id)
  }
  const remoteId = recorded ?? hint
  if (remoteId === undefined) throw closureBlocked('remote_id_required', job.job_id)
  return { job, plan, effect, remoteId, earlier: earlierReadback(gov, view, job, effect, remoteId) }
}

const requireRepository = async (get: ClosureGet, job: Job): Promise<void> => {
  const seen = await get(
    hostPath.repository(repositoryOf(job.repository)), judgeRepositoryReply)
  if (seen.kind === 'refused') throw closureBlocked(blockerOf[seen.code], job.job_id)
  const { id, fullName } = seen.repository
  if (id === job.repository_id && fullName === job.repository) return
  throw closureBlocked('repository_replaced', job.job_id)
}

/** Reads the evidence; `view` gives rows of the moment at which a receipt is made. */
export const readFollow = async (
  gov: Gov, { job, plan, effect, remoteId }: FollowTarget, get: ClosureGet, readRevision: number,
): Promise<Evidence> => {
  await requireRepository(get, job)
  const at = readbackOf(plan, effect, remoteId)
  const verdict = await get(at.path, at.judge)
  if (verdict.kind === 'no_evidence') throw closureBlocked(blockerOf[verdict.reason], job.job_id)
  const receipt = mintReceipt(gov, gov.store.read(), job, {
    effect, remoteId, path: at.path, verdict, readRevision,
  })
  return { receipts: [receipt], earlier: [] }
}
