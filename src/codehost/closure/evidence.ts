/**
 * Evidence for every effect of a follow-through job that may have happened: a protected read of
 * now, or an earlier sealed readback of the very same serialized intent. Nothing is written here
 * (C-021, C-154, C-192, C-241, C-242).
 */
import { SallyportError } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import type { Provenance } from '../adapter/provenance.js'
import { readbackOf } from '../adapter/readback.js'
import { planLabel } from '../constants.js'
import { jobEntries, effectHistory } from '../jobs/histories.js'
import { provenanceOf } from '../jobs/ledger.js'
import { effectOf, openPlan, type FollowPlan, type PlannedEffect } from '../jobs/plan.js'
import { mintReceipt, type ReadReceipt, type ReceiptRow } from '../jobs/receipt.js'
import type { Job } from '../jobs/job-rows.js'
import { closureBlocked } from './blockers.js'
import { earlierReadbacks } from './earlier.js'
import type { ClosureGet } from './get.js'
import { followInventory, hasUnknownKind } from './inventory.js'
import type { ChangedPaths } from './publication/changed-paths.js'
import { blockerOf } from './readback.js'
import type { CloseRequest } from '../jobs/closed/request.js'
import { requireItsOwn } from './repeated.js'
import { requireSameRepository } from './same-repository.js'

interface FollowTarget {
  readonly job: Job
  readonly plan: FollowPlan
  readonly effect: PlannedEffect
  /** The host's number: recorded, or else given as a hint. */
  readonly remoteId: number
  readonly provenance: Provenance
  /** A sealed readback of before, which serves in place of a read. */
  readonly earlier: ReceiptRow | null
}

/** What proves it. */
export interface Evidence {
  /** Of this closure. */
  readonly receipts: readonly ReadReceipt[]
  /** Of earlier operations. */
  readonly earlier: readonly ReceiptRow[]
  /** Of a pull request: what its pages of changed paths were. */
  readonly changedPaths?: ChangedPaths
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
  const { number, remoteId: recorded, contact } = inventory.effect
  const effect = effectOf(plan, number)
  if (recorded !== null && hint !== undefined && hint !== recorded) {
    throw closureBlocked('remote_id_differs', job.job_id)
  }
  const remoteId = recorded ?? hint
  if (remoteId === undefined) throw closureBlocked('remote_id_required', job.job_id)
  requireItsOwn(view, job, [{ number, action: effect.action, remote_id: remoteId }])
  return {
    job, plan, effect, remoteId, provenance: provenanceOf(job, contact),
    earlier: earlierReadbacks(gov, view, job)({ effect, remoteId }),
  }
}

/** Reads the evidence; `view` gives rows of the moment at which a receipt is made. */
export const readFollow = async (
  gov: Gov, { job, plan, effect, remoteId, provenance }: FollowTarget, get: ClosureGet,
  readRevision: number,
): Promise<Evidence> => {
  await requireSameRepository(get, job)
  const at = readbackOf(plan, effect, remoteId, provenance)
  const verdict = await get(at.path, at.judge)
  if (verdict.kind === 'no_evidence') {
    throw closureBlocked(blockerOf[verdict.reason], job.job_id, undefined, verdict.back)
  }
  const receipt = mintReceipt(gov, gov.store.read(), job, {
    effect, remoteId, path: at.path, verdict, readRevision,
  })
  return { receipts: [receipt], earlier: [] }
}
