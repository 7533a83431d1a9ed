import { msFromIso } from '../../base/clock.js'
import type { Job, Standing } from './job-rows.js'

/** Whether an authority is of the job's own connection, consent and session, and not over. */
const isOfJob = (standing: Standing, job: Job, nowMs: number): boolean =>
  standing.connection_id === job.connection_id && standing.owner === job.owner
  && standing.root === job.root && standing.consent_id === job.consent.consent_id
  && job.actions.every((action) => standing.actions.includes(action))
  && nowMs < msFromIso(standing.expires_at)

/** Whether it may stand for the approval of one job more, or has counted this one already. */
export const mayStand = (standing: Standing, job: Job, nowMs: number): boolean =>
  isOfJob(standing, job, nowMs)
  && (standing.jobs.includes(job.job_id) || standing.jobs.length < standing.jobs_max)

/** The same for one that may be gone. */
export const isCurrent = (standing: Standing | undefined, job: Job, nowMs: number): boolean =>
  standing !== undefined && mayStand(standing, job, nowMs)
