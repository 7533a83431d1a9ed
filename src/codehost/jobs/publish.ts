/**
 * Sending a publication that somebody has looked at, in one call: the approval of exactly what was
 * shown and its run, or what is left of both. No rule is written here; each step is the use case
 * that `approve`, `run` and `resume` are.
 */
import { fail } from '../../base/errors.js'
import type { Session } from '../../governance/context.js'
import type { CodehostContext } from '../context.js'
import { approveJob, requirePreview } from './approve.js'
import {
  isGivenUpPartly, isLeftUnproved, isUnread, needsApprovalAgain, requireJobRevision,
  requireOwnJob,
} from './change.js'
import { publicationKind } from './kinds.js'
import type { Job } from './job-rows.js'
import { runFailure, runJob, type RunVerb } from './run.js'

/** What is sent. */
export interface PublishRequest {
  readonly jobId: string
  /** The digest that was shown. */
  readonly previewDigest: string
  /** Revision of the job as it was shown; left out: whatever it is. */
  readonly expectedRevision?: number | undefined
}

/**
 * What is left to do of a publication. `approve` and send; `go_on` with what was never sent, under
 * the approval that it has; nothing where it is `done`; `unsettled`: something may have happened,
 * or was refused, and is never sent again; `no_more`: a process has it, it ended unsent, or its
 * capacity was closed.
 */
export type PublishStep = 'approve' | 'go_on' | 'done' | 'unsettled' | 'no_more'

const blockedStep = (job: Job): PublishStep => {
  if (needsApprovalAgain(job)) return 'approve'
  // Local work that was begun is looked for; what proves nothing of it never goes on.
  if (job.contacted === 0) {
    return isGivenUpPartly(job) || isUnread(job) || isLeftUnproved(job) ? 'unsettled' : 'go_on'
  }
  const goesOn = !isGivenUpPartly(job) && job.reason !== 'remote_taken'
    && job.created === job.contacted && job.created < job.plan.effects
  return goesOn ? 'go_on' : 'unsettled'
}

/** What is left to do, by the row of the job. */
export const publishStep = (job: Job): PublishStep => {
  if (job.closed !== null) return 'no_more'
  switch (job.state) {
    case 'prepared': case 'approved': return 'approve'
    case 'blocked': return blockedStep(job)
    case 'succeeded': return 'done'
    case 'unknown_external_effect': return 'unsettled'
    case 'failed': return job.contacted > 0 ? 'unsettled' : 'no_more'
    case 'running': case 'cancelled': return 'no_more'
  }
}

const requirePublication = (job: Job): void => {
  if (job.native_kind === publicationKind) return
  throw fail.rejected('not_a_publication', 'That job is an issue or a comment.', {
    next: `Look at it: \`sallyport codehost preview ${job.job_id}\`.`,
    details: { job_id: job.job_id },
  })
}

const sent = async (
  ctx: CodehostContext, session: Session, jobId: string, verb: RunVerb,
): Promise<Job> => {
  const ran = await runJob(ctx, session, jobId, { verb })
  const failure = runFailure(ctx.gov, ran)
  if (failure !== null) throw failure
  return ran.job
}

/**
 * Approves and sends a publication, or goes on where it was left. One that was sent and read back
 * is answered as it is, from any session. Throws `rejected` `not_a_publication`; `conflict`
 * (`preview_changed`, `job_changed`, `job_state`); `blocked` where something may have happened,
 * with the way on; and what `approveJob` and `runJob` throw.
 */
export const publishApproved = async (
  ctx: CodehostContext, session: Session, request: PublishRequest,
): Promise<Job> => {
  const { gov, producer } = ctx
  const { jobId, expectedRevision } = request
  const job = requireOwnJob(gov.store.read(), session, jobId)
  requirePublication(job)
  requirePreview(gov, job, request.previewDigest)
  const step = publishStep(job)
  if (step === 'done') return job
  if (step === 'go_on') {
    if (expectedRevision !== undefined) requireJobRevision(job, expectedRevision)
    return sent(ctx, session, jobId, 'resume')
  }
  const unsettled = step === 'unsettled' ? runFailure(gov, { job, unsent: null }) : null
  if (unsettled !== null) throw unsettled
  if (step === 'approve') await approveJob(gov, session, { ...request, producer })
  return sent(ctx, session, jobId, 'run')
}
