/** The line that closes the capacity of a job, as it is taken at this moment. */
import type { Gov } from '../../governance/context.js'
import { pendingOfJob } from './closed/pending.js'
import type { Job } from './job-rows.js'
import { closeCapacityLine } from './next-step.js'

/**
 * The whole line but for the acknowledgment. Where a request for the job is kept already, a new one
 * is begun under a key of its own alone, which whoever types the line gives (C-151).
 */
export const closeLineNow = (
  { store }: { readonly store: Pick<Gov['store'], 'dir'> }, job: Job, revision: number | undefined,
): string => {
  const line = closeCapacityLine(job, revision)
  return pendingOfJob(store.dir, job.job_id).length === 0 ? line : `${line} --idempotency-key UUID`
}
