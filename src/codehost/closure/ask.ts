/** A request out of single fields, for who has no document: what is left out is never guessed. */
import { randomUUID } from 'node:crypto'
import { fail } from '../../base/errors.js'
import type { Gov, Session } from '../../governance/context.js'
import { closableJob } from './close.js'
import { followThroughKind } from '../jobs/kinds.js'
import type { Job } from '../jobs/job-rows.js'
import { pendingOfJob } from '../jobs/closed/pending.js'
import { closeRequestJson, closeRequestOf, type ReadRequest } from '../jobs/closed/request.js'

/** Fields of a request as flags give them; undefined ones are left out. */
type CloseFields = Readonly<Record<string, unknown>>

/** What a person looks at before the acknowledgment. */
export interface CloseForm {
  readonly jobId: string
  readonly kind: string
  readonly state: string
  readonly reason: string | null
  readonly repository: string
  readonly contacted: number
  readonly connection: string
  /** Number of the host's that no reply told and a person may have found; null where none is. */
  readonly lost: 'remote_id' | 'pr_number' | null
  /** Keys of the requests for this job that are kept. */
  readonly kept: readonly string[]
  readonly expected_job_revision: number
  readonly expected_connection_revision: number
  readonly expected_connection_fence: number
}

const lostOf = ({ remote, contacted, plan, native_kind: kind }: Job): CloseForm['lost'] => {
  if (remote !== null || contacted === 0 || contacted < plan.effects) return null
  return kind === followThroughKind ? 'remote_id' : 'pr_number'
}

/** The numbers of now, and what will be closed. Throws as `closableJob`. */
export const closeForm = (gov: Gov, session: Session, jobId: string): CloseForm => {
  const { job, connection } = closableJob(gov, session, jobId)
  return {
    jobId, kind: job.native_kind, state: job.state, reason: job.reason,
    repository: job.repository, contacted: job.contacted, connection: job.connection_id,
    lost: lostOf(job), kept: pendingOfJob(gov.store.dir, jobId).map(({ key }) => key),
    expected_job_revision: job.revision,
    expected_connection_revision: connection.revision,
    expected_connection_fence: connection.active_fence,
  }
}

/** A request that came as a document. Throws `rejected`, and as `closableJob`. */
export const requestOfBytes = (
  gov: Gov, session: Session, jobId: string, bytes: Uint8Array,
): ReadRequest => {
  const value = closeRequestJson(bytes)
  return closeRequestOf(value, closableJob(gov, session, jobId).job.native_kind)
}

/**
 * A request out of fields; without a key it gets a new one, unless a request of this job is kept:
 * a key is never changed behind somebody's back (C-151). Throws `rejected` `request_invalid`,
 * `conflict` `pending_kept`, and as `closableJob`.
 */
export const requestOfFields = (
  gov: Gov, session: Session, jobId: string, fields: CloseFields,
): ReadRequest => {
  const { job } = closableJob(gov, session, jobId)
  const given = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined))
  if ('idempotency_key' in given) return closeRequestOf(given, job.native_kind)
  const read = closeRequestOf({ ...given, idempotency_key: randomUUID() }, job.native_kind)
  if (pendingOfJob(gov.store.dir, jobId).length === 0) return read
  throw fail.conflict('pending_kept', 'A request for this job is kept; a new one is not begun.', {
    next: `Send it again (\`sallyport codehost close-capacity ${jobId} --retry\`), discard it once `
      + `it is decided (\`sallyport codehost recover discard ${jobId}\`), or give this one a key `
      + 'of its own (--idempotency-key UUID).',
    details: { job_id: jobId },
  })
}
