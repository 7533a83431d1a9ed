/**
 * A job comes to occupy its connection, and leaves it: by compare-and-set, in the record of what
 * made it so. Nothing else writes `active_job_id` (C-036, C-109).
 */
import { fail } from '../../base/errors.js'
import {
  connectionCollection, type Connection,
} from '../../governance/connections/connection-rows.js'
import type { Tx } from '../../state/types.js'
import { requireUnclosed } from './closed/fence.js'
import { appendEntry, checkpointHistory } from './histories.js'
import type { Job } from './job-rows.js'

const connectionOf = (tx: Tx, { connection_id: id }: Job): Connection => {
  const found = tx.get(connectionCollection, id)
  if (found !== undefined) return found
  throw fail.notFound('connection_not_found', 'There is no such connection.', {
    next: 'Run `sallyport codehost connections`.',
  })
}

/** Whether the connection is occupied by this very job, under its fence. */
export const holdsConnection = (connection: Connection | undefined, job: Job): boolean =>
  connection !== undefined && connection.active_job_id === job.job_id
    && job.fence !== null && connection.active_fence === job.fence

/**
 * Occupies the connection; answers the fence. The revision of the connection stays. A job that
 * occupies it already goes on under its fence. Throws `conflict` `connection_occupied`.
 */
export const reserveConnection = (tx: Tx, now: string, job: Job, operationId: string): number => {
  const connection = connectionOf(tx, job)
  const holds = holdsConnection(connection, job)
  requireUnclosed(tx, job, holds ? 'reacquire' : 'reserve')
  if (holds) return connection.active_fence
  if (connection.active_job_id !== null) {
    throw fail.conflict('connection_occupied', 'Another job occupies this connection.', {
      next: `Look at it: \`sallyport codehost jobs ${connection.active_job_id}\`.`,
      details: { job_id: connection.active_job_id },
    })
  }
  const fence = connection.active_fence + 1
  tx.put(connectionCollection, connection.connection_id, {
    ...connection, active_job_id: job.job_id, active_fence: fence, updated_at: now,
  })
  appendEntry(tx, checkpointHistory, job.job_id, {
    at: now, what: 'reserved', fence, attempt: job.attempt + 1, operation_id: operationId,
    reason: null,
  })
  return fence
}

/**
 * Frees the connection where it is this job's, under its own fence; another job's reservation
 * stays. Answers whether it did.
 */
export const releaseConnection = (
  tx: Tx, now: string, job: Job, reason: string, operationId: string | null,
): boolean => {
  const connection = tx.get(connectionCollection, job.connection_id)
  if (connection === undefined || !holdsConnection(connection, job)) return false
  tx.put(connectionCollection, connection.connection_id, {
    ...connection, active_job_id: null, updated_at: now,
  })
  appendEntry(tx, checkpointHistory, job.job_id, {
    at: now, what: 'released', fence: connection.active_fence, attempt: Math.max(1, job.attempt),
    operation_id: operationId, reason,
  })
  return true
}
