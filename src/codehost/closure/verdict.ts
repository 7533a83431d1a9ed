/**
 * What became of a request that somebody kept, out of rows of one view and nothing else: it was
 * applied, it can never apply any more, or neither is proved. Pure (C-135 to C-140).
 */
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { getJob } from '../jobs/change.js'
import { closedBy } from '../jobs/closed/fence.js'
import type { ReadRequest } from '../jobs/closed/request.js'
import { closureCollection, closuresByKey, type Closure } from '../jobs/closed/closed-job-rows.js'

/** Why a request can never apply any more. */
type StaleReason =
  | 'key_bound_to_other_request' | 'closed_by_other_request' | 'job_revision_passed'
  | 'connection_revision_passed' | 'connection_fence_passed'

/** What became of a request. */
export type PendingVerdict =
  | { readonly verdict: 'applied'; readonly closure: Closure }
  | { readonly verdict: 'stale'; readonly reason: StaleReason }
  | { readonly verdict: 'inconclusive' }

export const closureOfKey = (view: View, key: string): Closure | undefined =>
  rowsUnder(view, closureCollection, closuresByKey, { under: [key], limit: 1 })[0]?.doc

const staleReason = (view: View, jobId: string, { request }: ReadRequest): StaleReason | null => {
  const job = getJob(view, jobId)
  const connection = view.get(connectionCollection, job.connection_id)
  if (closedBy(view, job) !== null) return 'closed_by_other_request'
  if (job.revision > request.expected_job_revision) return 'job_revision_passed'
  if (connection === undefined) return null
  if (connection.revision > request.expected_connection_revision) {
    return 'connection_revision_passed'
  }
  return connection.active_fence > request.expected_connection_fence
    ? 'connection_fence_passed' : null
}

/** The verdict on a request for a job. Numbers only ever rise: one that was passed is never met. */
export const pendingVerdict = (view: View, jobId: string, read: ReadRequest): PendingVerdict => {
  const bound = closureOfKey(view, read.request.idempotency_key)
  if (bound !== undefined) {
    return bound.job_id === jobId && bound.request === read.canonical
      ? { verdict: 'applied', closure: bound }
      : { verdict: 'stale', reason: 'key_bound_to_other_request' }
  }
  const reason = staleReason(view, jobId, read)
  return reason === null ? { verdict: 'inconclusive' } : { verdict: 'stale', reason }
}
