/**
 * Which requests may close at all, out of rows of one view, before anybody is contacted; whose they
 * are, and what was applied, once more in the record that closes. Pure (C-082 to C-085, C-164,
 * C-182 to C-184, C-187 to C-189).
 */
import { fail } from '../../base/errors.js'
import { findTask } from '../../governance/board/place.js'
import {
  connectionCollection, type Connection,
} from '../../governance/connections/connection-rows.js'
import type { Session } from '../../governance/context.js'
import { vaultDigest } from '../../governance/vault.js'
import type { View } from '../../state/types.js'
import { requireOwnJob } from '../jobs/change.js'
import { holdsConnection } from '../jobs/reserve.js'
import type { Job, JobState } from '../jobs/job-rows.js'
import { isLeased } from './bindings.js'
import { closedBy } from '../jobs/closed/fence.js'
import type { CloseRequest, ReadRequest } from '../jobs/closed/request.js'
import type { Closure } from '../jobs/closed/closed-job-rows.js'
import { closureOfKey } from './verdict.js'

/** States out of which capacity is closed. */
export const closableStates: readonly JobState[] = ['unknown_external_effect', 'blocked', 'failed']

const connectAnew = 'The connection stays occupied for good; save another one: '
  + '`sallyport codehost connect --repo OWNER/NAME --token-file F`.'

const look = (job: Job): string => `Look at it: \`sallyport codehost jobs ${job.job_id}\`.`

/** A job with its connection. */
export interface Identified {
  readonly job: Job
  readonly connection: Connection
}

/**
 * The operator's own job in its original session, with its original connection, repository and
 * credential: what even the answer to a request that was applied rests on. Throws `not_found`,
 * `unauthorized` (`closure_root_ended`, `credential_changed`), `conflict` `repository_changed`.
 */
export const requireIdentity = (view: View, session: Session, jobId: string): Identified => {
  const job = requireOwnJob(view, session, jobId)
  const details = { job_id: jobId }
  if (job.root !== session.root.root_id) {
    throw fail.unauthorized(
      'closure_root_ended', 'Only the session that prepared this job closes its capacity.', {
        next: connectAnew, details,
      },
    )
  }
  const connection = view.get(connectionCollection, job.connection_id)
  if (connection?.owner !== job.owner) {
    throw fail.notFound('connection_not_found', 'There is no such connection.', {
      next: 'Run `sallyport codehost connections`.', details,
    })
  }
  const same = connection.repository === job.repository
    && connection.repository_id === job.repository_id
  if (!same) {
    throw fail.conflict(
      'repository_changed', 'The connection is for another repository than this job.', {
        next: 'See `sallyport codehost connections`.', details,
      },
    )
  }
  if (vaultDigest(view, connection.credential_ref) === job.vault.sha256) return { job, connection }
  throw fail.unauthorized(
    'credential_changed', 'The connection has another token than this job was sent with.', {
      next: connectAnew, details,
    },
  )
}

/**
 * The closure that this very request has made; null where nothing was closed by it. Throws
 * `conflict`: `idempotency_conflict` for a key of another request, `job_closed` for a job that
 * another request has closed.
 */
export const appliedClosure = (view: View, job: Job, read: ReadRequest): Closure | null => {
  const details = { job_id: job.job_id }
  const bound = closureOfKey(view, read.request.idempotency_key)
  if (bound !== undefined) {
    if (bound.job_id === job.job_id && bound.request === read.canonical) return bound
    throw fail.conflict(
      'idempotency_conflict', 'This key has been used for another request.', {
        next: 'A key stands for one request. See `sallyport codehost recover closures`.', details,
      },
    )
  }
  if (closedBy(view, job) === null) return null
  throw fail.conflict('job_closed', 'The capacity of this job was closed by another request.', {
    next: 'See `sallyport codehost recover closures`.', details,
  })
}

const notClosable = (job: Job, reason: string, text: string) => fail.conflict(
  'job_not_closable', text, { reason, next: look(job), details: { job_id: job.job_id } },
)

const stale = (code: string, text: string, job: Job) => fail.conflict(code, text, {
  next: `${look(job)}; then decide again`, details: { job_id: job.job_id },
})

/**
 * What it asks of rows is bound (bindings.ts), so that the record has no need to ask it again.
 * Throws `conflict` unless the job may be closed by this request now: `job_not_closable` (with the
 * state, `leased` or `capacity_free` as reason), `stale_job_revision`, `stale_connection_revision`,
 * `stale_connection_fence`.
 */
export const requireClosable = (
  view: View, { job, connection }: Identified, request: CloseRequest,
): void => {
  if (isLeased(job.task_id === null ? undefined : findTask(view, job.task_id))) {
    throw notClosable(job, 'leased', 'A process may be working on this job.')
  }
  if (!closableStates.includes(job.state)) {
    throw notClosable(job, job.state, `This job is ${job.state}: it has no capacity to be closed.`)
  }
  if (!job.reserved || !holdsConnection(connection, job)) {
    throw notClosable(job, 'capacity_free', 'This job does not occupy its connection.')
  }
  if (job.revision !== request.expected_job_revision) {
    throw stale('stale_job_revision', 'The job has another revision than was asked for.', job)
  }
  if (connection.revision !== request.expected_connection_revision) {
    throw stale(
      'stale_connection_revision', 'The connection has another revision than was asked for.', job)
  }
  if (connection.active_fence === request.expected_connection_fence) return
  throw stale('stale_connection_fence', 'The connection has another fence than was asked for.', job)
}
