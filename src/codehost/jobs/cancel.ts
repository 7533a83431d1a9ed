/**
 * Giving a job up: what waits is cancelled, what runs is stopped, what may have been sent stands.
 */
import { fail } from '../../base/errors.js'
import { appendAudit } from '../../governance/audit.js'
import { requireCancellable } from '../../governance/board/cancel.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/visible-tasks.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { requireRootRow } from '../../governance/session/live.js'
import { askedThrough, stopNow, type Recorded } from '../../governance/stops/act.js'
import type { Tx, View } from '../../state/types.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { isIdle, isUnread, putJob, requireOwnJob } from './change.js'
import { requireNotClosed } from './closed/fence.js'
import type { Job } from './job-rows.js'

interface CancelledJob {
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
      reason: job.reason ?? job.state, next: `See \`sallyport codehost jobs ${job.job_id}\`.`,
      details: { job_id: job.job_id, state: job.state },
    },
  )
}

/** What was closed stays as it was closed; what was sent stands. */
const requireIdle = (view: View, job: Job): void => {
  requireNotClosed(view, job)
  if (!isIdle(job)) refuse(job)
}

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
  return putJob(tx, now, job, {
    state: 'cancelled', reason: isUnread(job) ? job.reason : 'cancelled_by_owner',
  })
}

/** A run under way is stopped by its task, at once and without the lock. */
const cancelRunning = async (
  gov: Gov, session: Session, jobId: string,
): Promise<Recorded | null> => {
  const done = await stopNow(gov, () => {
    const view = gov.store.read()
    const current = requireRootRow(view, nowIso(gov), session.root.root_id)
    const { task_id: target } = requireOwnJob(view, current, jobId)
    if (target === null) return null
    return {
      aim: { kind: 'task', target }, by: askedThrough('codehost cancel', session),
      isDone: requireCancellable(view, current, target) === null,
    }
  })
  return done?.recorded ?? null
}

/**
 * Gives a job up. One that waits is cancelled, and its stage goes with the next settling of rows;
 * of one that runs nothing more is sent; what may have been sent stands. Throws `blocked`
 * `effect_stands`, `conflict` (`job_closed`, `job_finished`), `not_found`.
 */
export const cancelJob = async (
  gov: Gov, session: Session, jobId: string,
): Promise<CancelledJob> => {
  const view = gov.store.read()
  const seen = requireOwnJob(view, session, jobId)
  if (seen.state === 'cancelled') return { jobId, recorded: null }
  if (seen.state === 'running') {
    return { jobId, recorded: await cancelRunning(gov, session, jobId) }
  }
  await gov.store.transact('codehost cancel', (tx) => {
    const current = requireRootRow(tx, nowIso(gov), session.root.root_id)
    const job = requireOwnJob(tx, current, jobId)
    if (job.state === 'cancelled') return
    requireIdle(tx, job)
    cancelIdle(tx, nowIso(gov), job)
  })
  return { jobId, recorded: null }
}
