/** Finding jobs, and the one way in which a job's row changes. */
import { fail } from '../../base/errors.js'
import { findTask } from '../../governance/board/place.js'
import type { Session } from '../../governance/context.js'
import type { Tx, View } from '../../state/types.js'
import { connectAnew } from './connect-anew.js'
import { publicationKind } from './kinds.js'
import { jobCollection, type Job } from './job-rows.js'

const missing = () => fail.notFound('job_not_found', 'There is no such job.', {
  next: 'Run `sallyport codehost jobs`.',
})

/** A job by id. Throws `not_found` `job_not_found`. */
export const getJob = (view: Pick<View, 'get'>, jobId: string): Job => {
  const job = view.get(jobCollection, jobId)
  if (job === undefined) throw missing()
  return job
}

/** One of the operator's jobs; a foreign one is as absent as a missing one. */
export const requireOwnJob = (view: View, { principal }: Session, jobId: string): Job => {
  const job = getJob(view, jobId)
  if (job.owner === principal.principal_id) return job
  throw missing()
}

/**
 * The operator's own job in the session that prepared it: no other contacts or approves for it
 * (C-105, C-167). Throws `unauthorized` `root_replaced`.
 */
export const requireOriginalRoot = (job: Job, { root }: Session): void => {
  if (job.root === root.root_id) return
  throw fail.unauthorized(
    'root_replaced', 'This job rests on another session, and no session takes over its authority.',
    { next: wayUnderAnother(job), details: { job_id: job.job_id } },
  )
}

/** What is told of a job of which records are lost. */
export const unreadText = 'It may have been sent: records of what came after are lost, and nobody '
  + 'can read them. Look on the host before you prepare it anew.'

/** What a person can do of a job from another session than its own. */
const wayUnderAnother = (job: Job): string => {
  if (job.reserved) return `It stays occupied for good: \`${connectAnew(job)}\`.`
  if (!isIdle(job)) return `Look at it: \`sallyport codehost jobs ${job.job_id}\`.`
  const end = isUnread(job) ? `${unreadText} Give this one up: `
    : 'End this one, then prepare it anew under another key: '
  return `${end}\`sallyport codehost cancel ${job.job_id}\`.`
}

/** Writes the changed row and counts the change. */
export const putJob = (
  tx: Tx, now: string, job: Job, change: Partial<Omit<Job, 'job_id' | 'revision'>>,
): Job => {
  const revision = (tx.get(jobCollection, job.job_id)?.revision ?? 0) + 1
  const changed: Job = { ...job, ...change, revision, updated_at: now }
  tx.put(jobCollection, job.job_id, changed)
  return changed
}

/** Throws `conflict` `job_changed` unless the job is at the revision that was decided on. */
export const requireJobRevision = (job: Job, revision: number): void => {
  if (job.revision === revision) return
  throw fail.conflict('job_changed', 'The job has changed since it was read.', {
    next: `Look at it again: \`sallyport codehost jobs ${job.job_id}\`.`,
    details: { job_id: job.job_id, revision: job.revision },
  })
}

/** A job that waits, of which nothing was sent and that occupies nothing: it can be given up. */
export const isIdle = ({ state, contacted, reserved, closed }: Job): boolean => closed === null
  && (state === 'prepared' || state === 'approved'
    || (state === 'blocked' && contacted === 0 && !reserved))

/** Reason of a job of which records are lost: it may have been sent, and nobody can read it. */
export const recordsUnread = 'records_unread'

/** Whether it waited, or was to go on, in a state that lost records of what came after. */
export const isUnread = ({ reason }: Pick<Job, 'reason'>): boolean => reason === recordsUnread

/**
 * What a job becomes whose later records nobody can read: what occupies its connection is unknown,
 * what waits is left to a person; neither goes on. Null where it had ended, or sent all there is.
 */
export const unreadEnd = (job: Job): Pick<Job, 'state' | 'reason' | 'restored'> | null => {
  const end = { reason: recordsUnread, restored: true } as const
  if (isIdle(job)) return { state: 'blocked', ...end }
  const mayGoOn = job.state === 'blocked' && job.closed === null && job.created < job.plan.effects
  return mayGoOn ? { state: 'unknown_external_effect', ...end } : null
}

/**
 * A publication whose run ended before any of it was begun. What its approval bound to that run is
 * of no use to another: it is looked at and approved again.
 */
export const needsApprovalAgain = (job: Job): boolean => job.native_kind === publicationKind
  && job.state === 'blocked' && isIdle(job) && !isUnread(job)

/**
 * Whether local work that was begun was looked at, and nothing proves that it has ended. What only
 * stopped a run says nothing of that: the proof may lie there.
 */
export const isLeftUnproved = ({ reason }: Job): boolean => reason?.startsWith('producer_') === true

/** Reason of a job that its owner gave up. */
export const givenUp = 'cancelled_by_owner'

/**
 * Whether somebody gave up what a job runs as: the board takes that on no more, and nothing more of
 * it is sent.
 */
export const isCancelAsked = (view: View, { task_id: id }: Pick<Job, 'task_id'>): boolean => {
  const task = id === null ? undefined : findTask(view, id)
  return task !== undefined && (task.state === 'cancelled' || task.cancel_requested_at !== null)
}

/**
 * A publication that was given up with a part of it sent, or with local work that may live: what
 * there is stands, the rest is never sent.
 */
export const isGivenUpPartly = ({ state, reason }: Job): boolean =>
  state === 'blocked' && reason === givenUp
