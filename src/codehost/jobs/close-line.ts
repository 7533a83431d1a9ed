/** The line that closes the capacity of a job, as it is taken at this moment. */
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { occupiedHint } from '../consent-line.js'
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

/**
 * What is left to do of a job that rests on what has ended, or ends too soon; `anew` where nothing
 * of it was begun and its connection is free.
 */
export const endedHint = (gov: Gov, view: View, job: Job, anew: string): string => {
  if (job.reserved && job.state === 'blocked') return closeHint(gov, view, job)
  const connection = view.get(connectionCollection, job.connection_id)
  return (connection === undefined ? null : occupiedHint(connection)) ?? anew
}

/** What is left to do of a job that occupies its connection and is sent no further. */
export const closeHint = (
  gov: { readonly store: Pick<Gov['store'], 'dir'> }, view: Pick<View, 'get'>, job: Job,
): string => {
  const revision = view.get(connectionCollection, job.connection_id)?.revision
  return 'The rest of it is never sent; the connection is freed by a proof of what was: '
    + `\`${closeLineNow(gov, job, revision)}\`.`
}
