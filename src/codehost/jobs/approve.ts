/** Approving exactly what was previewed, in the record that says all that it rests on. */
import { fail } from '../../base/errors.js'
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { liveSession } from '../../governance/session/live.js'
import type { Tx } from '../../state/types.js'
import { codehostBase } from '../context.js'
import type { ToolPlaces } from '../producer/tools.js'
import { requirePrerequisites } from './boundary.js'
import {
  needsApprovalAgain, putJob, requireJobRevision, requireOriginalRoot, requireOwnJob,
} from './change.js'
import { previewDigest, sealedApproval } from './digests.js'
import { publicationKind } from './kinds.js'
import { openPlan } from './plan.js'
import { requirePreviewable } from './preview.js'
import { approvePublication, type ProducerOf } from './publication/approve.js'
import type { Job } from './job-rows.js'

/** What is approved: a job, by the digest of its preview. */
interface ApproveRequest {
  readonly jobId: string
  readonly previewDigest: string
  /** Revision of the job as it was shown; left out: whatever it is. */
  readonly expectedRevision?: number | undefined
  /** Where the producer of a publication is found; left out: where it is installed. */
  readonly producer?: ToolPlaces | undefined
}

/** Throws `conflict` `preview_changed` unless that is the digest of what the job will send. */
export const requirePreview = (gov: Gov, job: Job, named: string): void => {
  const own = previewDigest(job, codehostBase(gov))
  if (own === job.preview_sha256 && named === own) return
  throw fail.conflict('preview_changed', 'That is not the digest of what this job will send.', {
    next: `Look at it: \`sallyport codehost preview ${job.job_id}\`.`,
    details: { job_id: job.job_id },
  })
}

const requireState = (job: Job): void => {
  if (job.state === 'prepared' || job.state === 'approved' || needsApprovalAgain(job)) return
  throw fail.conflict('job_state', 'Only a prepared job is approved.', {
    next: `Look at it: \`sallyport codehost jobs ${job.job_id}\`.`,
    details: { job_id: job.job_id, state: job.state },
  })
}

/** The job as this record finds it, all that was asked for asked again. */
const current = (gov: Gov, tx: Tx, session: Session, { jobId, previewDigest: named }: {
  readonly jobId: string
  readonly previewDigest: string
}): Job => {
  const live = liveSession(tx, gov, session.root.root_id)
  const job = requireOwnJob(tx, live, jobId)
  requireOriginalRoot(job, live)
  requirePreview(gov, job, named)
  requireState(job)
  return job
}

const approve = (
  gov: Gov, session: Session, request: ApproveRequest, producerOf: ProducerOf,
): Promise<Job> => gov.store.transact('codehost approve', (tx) => {
  const now = nowIso(gov)
  const job = current(gov, tx, session, request)
  if (job.state === 'approved') return job
  requirePrerequisites('followThrough', { gov, sealedHost: codehostBase(gov) }, tx, job)
  const approval = sealedApproval(job.job_id, {
    kind: 'exact', preview_sha256: job.preview_sha256, root: job.root,
    consent_id: job.consent.consent_id, consent_revision: job.consent.revision,
    standing_id: null, producer: producerOf(tx, now, job), at: now,
  })
  tx.mark()
  appendAudit(tx, now, {
    what: 'codehost.approved', principal: job.owner, root: job.root, subject: job.job_id,
    facts: { preview: job.preview_sha256, approval: approval.sha256 },
  })
  return putJob(tx, now, job, { state: 'approved', reason: null, approval })
})

const withdraw = (gov: Gov, session: Session, request: ApproveRequest): Promise<Job> =>
  gov.store.transact('codehost approve', (tx) => {
    const now = nowIso(gov)
    const job = current(gov, tx, session, request)
    if (job.state === 'prepared') return job
    tx.mark()
    appendAudit(tx, now, {
      what: 'codehost.withdrawn', principal: job.owner, root: job.root, subject: job.job_id,
      facts: { approval: job.approval?.sha256 ?? '' },
    })
    return putJob(tx, now, job, { state: 'prepared', approval: null })
  })

/**
 * Approves exactly what was previewed. Nothing to do where it is approved and all of it still
 * holds. Throws `conflict` (`preview_changed`, `job_state`, `job_changed`), what `previewJob`
 * throws, and for a publication what `approvePublication` throws.
 */
export const approveJob = (gov: Gov, session: Session, request: ApproveRequest): Promise<Job> => {
  const view = gov.store.read()
  const job = requirePreviewable(gov, view, session, request.jobId)
  requirePreview(gov, job, request.previewDigest)
  requireState(job)
  if (request.expectedRevision !== undefined) requireJobRevision(job, request.expectedRevision)
  if (job.native_kind === publicationKind) {
    return approvePublication(gov, job, request.producer, {
      approve: (producerOf) => approve(gov, session, request, producerOf),
      withdraw: () => withdraw(gov, session, request),
    })
  }
  openPlan(gov, view, job)
  return approve(gov, session, request, () => null)
}
