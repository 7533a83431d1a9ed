/** Looking at what a job will send, approving exactly that, and giving a job up. */
import { fail } from '../../base/errors.js'
import { appendAudit } from '../../governance/audit.js'
import { requireCancellable } from '../../governance/board/cancel.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/read.js'
import { nowIso, type Gov } from '../../governance/context.js'
import { liveSession, requireRootRow } from '../../governance/session/live.js'
import type { Session } from '../../governance/session/types.js'
import { askedThrough, stopNow, type Recorded } from '../../governance/stops/act.js'
import type { Tx } from '../../state/types.js'
import { codehostBase } from '../context.js'
import { requirePrerequisites, type Asked } from './boundary.js'
import { putJob, requireOriginalRoot, requireOwnJob } from './change.js'
import { previewDigest } from './digests.js'
import { incompleteBlock, effectBlock } from './blocks.js'
import { jobTime, requireOutlives, type JobTime } from './outlive.js'
import { openPlan, type FollowPlan } from './plan.js'
import type { Job } from './rows.js'

/** What a person looks at before approving. */
export interface Preview {
  readonly job: Job
  readonly plan: FollowPlan
  readonly time: JobTime
}

const asked = (gov: Gov): Asked => ({ gov, sealedHost: codehostBase(gov) })

/**
 * What a job will send, byte for byte. Throws `unauthorized` `root_replaced` and
 * `codehost_write_denied`, `codehost_too_short`, `damaged` where the sealed plan is not its own.
 */
export const previewJob = (gov: Gov, session: Session, jobId: string): Preview => {
  const view = gov.store.read()
  const job = requireOwnJob(view, session, jobId)
  requireOriginalRoot(job, session)
  const plan = openPlan(gov, view, job)
  if (job.state === 'prepared' || job.state === 'approved') {
    requirePrerequisites('followThrough', asked(gov), view, job)
    requireOutlives(gov, view, job)
  }
  return { job, plan, time: jobTime(gov, view, job) }
}

const requirePreview = (gov: Gov, job: Job, named: string): void => {
  const own = previewDigest(job, codehostBase(gov))
  if (own === job.preview_sha256 && named === own) return
  throw fail.conflict('preview_changed', 'That is not the digest of what this job will send.', {
    next: `Look at it: sallyport codehost preview ${job.job_id}`,
    details: { job_id: job.job_id },
  })
}

/**
 * Approves exactly what was previewed. Nothing to do where it is approved. Throws `conflict`
 * (`preview_changed`, `job_state`), and what `previewJob` throws.
 */
export const approveJob = (
  gov: Gov, session: Session, { jobId, previewDigest: named }: {
    readonly jobId: string
    readonly previewDigest: string
  },
): Promise<Job> => {
  previewJob(gov, session, jobId)
  return gov.store.transact('codehost approve', (tx) => {
    const now = nowIso(gov)
    const current = liveSession(tx, gov, session.root.root_id)
    const job = requireOwnJob(tx, current, jobId)
    requireOriginalRoot(job, current)
    requirePreview(gov, job, named)
    if (job.state === 'approved') return job
    if (job.state !== 'prepared') {
      throw fail.conflict('job_state', 'Only a prepared job is approved.', {
        next: `Look at it: sallyport codehost job ${job.job_id}`,
        details: { job_id: job.job_id, state: job.state },
      })
    }
    requirePrerequisites('followThrough', asked(gov), tx, job)
    tx.mark()
    appendAudit(tx, now, {
      what: 'codehost.approved', principal: job.owner, root: job.root, subject: job.job_id,
      facts: { preview: job.preview_sha256 },
    })
    return putJob(tx, now, job, {
      state: 'approved',
      approval: {
        kind: 'exact', preview_sha256: named, root: current.root.root_id,
        consent_id: job.consent.consent_id, consent_revision: job.consent.revision,
        standing_id: null, at: now,
      },
    })
  })
}

/** A job that was given up. */
export interface CancelledJob {
  readonly jobId: string
  /** Null where no stop was needed. */
  readonly recorded: Recorded | null
}

const refuse = (job: Job): never => {
  if (job.state === 'succeeded') {
    throw fail.conflict('job_finished', 'This job has come to its end already.', {
      details: { job_id: job.job_id, state: job.state },
    })
  }
  throw fail.blocked(
    'effect_stands', 'What may have been sent cannot be taken back: nothing here undoes it.', {
      reason: job.reason ?? job.state, next: `See: sallyport codehost job ${job.job_id}`,
      details: { job_id: job.job_id, state: job.state },
    },
  )
}

const isIdle = ({ state, contacted }: Job): boolean =>
  state === 'prepared' || state === 'approved' || (state === 'blocked' && contacted === 0)

const cancelIdle = (tx: Tx, now: string, job: Job): Job => {
  if (job.task_id !== null) {
    const { blocked } = getTask(tx, job.task_id)
    if (blocked?.kind === incompleteBlock || blocked?.kind === effectBlock) {
      moveTask(tx, now, job.task_id, 'failed', { reason: 'cancelled_by_owner' })
    }
  }
  tx.mark()
  appendAudit(tx, now, {
    what: 'codehost.cancelled', principal: job.owner, root: job.root, subject: job.job_id,
  })
  return putJob(tx, now, job, { state: 'cancelled', reason: 'cancelled_by_owner' })
}

/** A run under way is stopped by its task, at once and without the lock. */
const cancelRunning = async (
  gov: Gov, session: Session, jobId: string,
): Promise<Recorded | null> => {
  const done = await stopNow(gov, () => {
    const view = gov.store.read()
    const current = requireRootRow(view, nowIso(gov), session.root.root_id)
    const { task_id: target } = requireOwnJob(view, current, jobId)
    if (target === null || requireCancellable(view, current, target) === null) return null
    return { aim: { kind: 'task', target }, by: askedThrough('codehost cancel', session) }
  })
  return done?.recorded ?? null
}

/**
 * Gives a job up. One that waits is cancelled; of one that runs nothing more is sent; what may have
 * been sent stands. Throws `blocked` `effect_stands`, `conflict` `job_finished`, `not_found`.
 */
export const cancelJob = async (
  gov: Gov, session: Session, jobId: string,
): Promise<CancelledJob> => {
  const seen = requireOwnJob(gov.store.read(), session, jobId)
  if (seen.state === 'cancelled') return { jobId, recorded: null }
  if (seen.state === 'running') {
    return { jobId, recorded: await cancelRunning(gov, session, jobId) }
  }
  if (!isIdle(seen)) refuse(seen)
  await gov.store.transact('codehost cancel', (tx) => {
    const current = requireRootRow(tx, nowIso(gov), session.root.root_id)
    const job = requireOwnJob(tx, current, jobId)
    if (job.state === 'cancelled') return
    if (!isIdle(job)) refuse(job)
    cancelIdle(tx, nowIso(gov), job)
  })
  return { jobId, recorded: null }
}
