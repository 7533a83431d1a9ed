/** Looking at what a job will send, out of its sealed plan. */
import type { Gov, Session } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { codehostBase } from '../context.js'
import { requirePrerequisites } from './boundary.js'
import { needsApprovalAgain, requireOriginalRoot, requireOwnJob } from './change.js'
import { publicationKind } from './kinds.js'
import { jobTime, requireOutlives, type JobTime } from './outlive.js'
import { openPlan, type FollowPlan } from './plan.js'
import { shownPublication, type ShownPublication } from './publication/shown.js'
import type { Job } from './job-rows.js'

/** What a person looks at before approving. */
export interface Preview {
  readonly job: Job
  /** Of an issue or a comment; null for a publication. */
  readonly plan: FollowPlan | null
  readonly publication: ShownPublication | null
  readonly time: JobTime
}

/**
 * The operator's job in its own session; one that waits still has all that it rests on, and ends
 * before any of it. Throws `unauthorized`: `root_replaced`, `codehost_write_denied`,
 * `codehost_too_short`.
 */
export const requirePreviewable = (gov: Gov, view: View, session: Session, jobId: string): Job => {
  const job = requireOwnJob(view, session, jobId)
  requireOriginalRoot(job, session)
  if (job.state === 'prepared' || job.state === 'approved' || needsApprovalAgain(job)) {
    const asked = { gov, sealedHost: codehostBase(gov) }
    requirePrerequisites('followThrough', asked, view, job)
    requireOutlives(gov, view, job)
  }
  return job
}

/**
 * What a job will send, byte for byte. Throws what `requirePreviewable` throws, and `damaged` where
 * the sealed plan is not its own.
 */
export const previewJob = (gov: Gov, session: Session, jobId: string): Preview => {
  const view = gov.store.read()
  const job = requirePreviewable(gov, view, session, jobId)
  const isPublication = job.native_kind === publicationKind
  return {
    job, time: jobTime(gov, view, job),
    plan: isPublication ? null : openPlan(gov, view, job),
    publication: isPublication ? shownPublication(gov, view, job) : null,
  }
}
