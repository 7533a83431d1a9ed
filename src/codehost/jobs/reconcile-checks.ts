/**
 * What a readback under the original identities rests on, whatever kind of job it is for, and how
 * it is told that it showed nothing (C-023, C-104 to C-108).
 */
import { fail, SallyportError } from '../../base/errors.js'
import type { Sent } from '../../contact/order.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import { findTask } from '../../governance/board/place.js'
import type { Session } from '../../governance/context.js'
import { vaultDigest } from '../../governance/vault.js'
import type { View } from '../../state/types.js'
import { errorOf, refusedError } from '../adapter/look.js'
import type { ReadReason, ReadVerdict } from '../adapter/readback.js'
import type { RepositoryVerdict } from '../adapter/repository-reply.js'
import type { CodehostContext } from '../context.js'
import { requireUnclosed } from './closed/fence.js'
import { connectAnew } from './connect-anew.js'
import { requireOriginalRoot, requireOwnJob } from './change.js'
import { requireRepository } from './preflight.js'
import { holdsConnection } from './reserve.js'
import type { Job } from './job-rows.js'

/** What is asked to be read back. */
export interface ReconcileRequest {
  readonly jobId: string
  readonly expectedReadRevision: number
}

/** What came of it. */
export interface Reconciled {
  readonly job: Job
  readonly failure: SallyportError | null
}

/** `blocked`, its code its reason. */
export const refuse = (code: string, text: string, next: string, { job_id }: Job) =>
  fail.blocked(code, text, { reason: code, next, details: { job_id } })

/** A job whose success the board has not taken over may be read again at a later revision. */
const isOpenSuccess = (view: View, job: Job): boolean =>
  job.state === 'succeeded' && job.task_id !== null
  && findTask(view, job.task_id)?.state === 'blocked'

/** What the host refused whole was never made by it, and is never sent again. */
export const effectRefused = (job: Job) => refuse(
  'effect_refused', 'The host refused it: there is nothing to read back.',
  `The connection stays occupied; use another one: \`${connectAnew(job)}\`.`, job,
)

/** Throws where nothing of a job waits to be read back. */
export const requireState = (view: View, job: Job): void => {
  if (job.state === 'unknown_external_effect' || isOpenSuccess(view, job)) return
  if (job.state === 'blocked' && job.contacted > 0) return
  if (job.state === 'failed') throw effectRefused(job)
  throw fail.conflict('nothing_to_reconcile', 'Nothing of this job waits to be read back.', {
    next: `Look at it: \`sallyport codehost jobs ${job.job_id}\`.`,
    details: { job_id: job.job_id, state: job.state },
  })
}

/** Nobody knows which number the host gave it, and nothing is searched for. */
export const remoteIdRequired = (job: Job) => refuse(
  'remote_id_required',
  'No reply told which number the host gave it. Nothing is listed or searched for, and nothing '
    + 'sent again.',
  `See what can be done: \`sallyport codehost jobs ${job.job_id}\`.`, job,
)

/** What must hold of rows at every boundary of the reads. */
export const requireReadable = (view: View, job: Job, readRevision: number): void => {
  const connection = view.get(connectionCollection, job.connection_id)
  requireUnclosed(view, job, 'finalize')
  if (connection?.revision !== readRevision) {
    throw fail.conflict(
      'stale_read_revision', 'The connection has another revision than was asked for.', {
        next: 'See it, and decide again: `sallyport codehost connections`.',
        details: { revision: connection?.revision ?? 0 },
      },
    )
  }
  if (vaultDigest(view, connection.credential_ref) !== job.vault.sha256) {
    throw refuse(
      'credential_changed', 'The connection has another token than it was written with.',
      `It stays occupied for good; use another one: \`${connectAnew(job)}\`.`, job,
    )
  }
  const same = connection.repository === job.repository
    && connection.repository_id === job.repository_id
  if (!same) {
    throw refuse(
      'repository_changed', 'The connection is for another repository than it was written to.',
      'See `sallyport codehost connections`.', job,
    )
  }
  if (!job.reserved || holdsConnection(connection, job)) return
  throw fail.conflict('reservation_lost', 'The connection is not occupied by this job any more.', {
    next: 'Run `sallyport state check`.',
  })
}

/** The job that may be read back now, as of the rows of this moment. */
export const requireReconcilable = (
  ctx: CodehostContext, session: Session, request: ReconcileRequest,
): Job => {
  const view = ctx.gov.store.read()
  const job = requireOwnJob(view, session, request.jobId)
  // Before its state: whatever else keeps a closed job from it, the try is written down.
  requireUnclosed(view, job, 'finalize')
  requireOriginalRoot(job, session)
  requireState(view, job)
  requireReadable(view, job, request.expectedReadRevision)
  return job
}

const noEvidence = {
  remote_not_found: 'The host shows nothing under that number or name now. That is no proof that '
    + 'it is not there: for a moment after a creation, and to other tokens, it looks so.',
  readback_differs: 'What the host has there is not what was sent: somebody may have edited it.',
  readback_edited: 'What the host has there is not what was sent: it was edited since it was made.',
  readback_truncated: 'The host left out some of what was sent, and said so: that is no proof.',
  readback_other_time: 'What the host has there says the same and was made at another time.',
  readback_time_missing: 'The host does not tell when it was made, or did not tell its own time.',
  readback_other_author: 'What the host has there says the same and was made by somebody else.',
  readback_author_missing: 'The host does not tell who made it.',
  readback_author_unknown: 'It has no mark, and its token shares its account with others.',
} as const

const isNoEvidence = (reason: ReadReason): reason is keyof typeof noEvidence =>
  reason in noEvidence

/** Why the repository's own reply keeps a readback from counting; null where it does not. */
export const repositoryFailure = (
  job: Job, repository: Sent<RepositoryVerdict>,
): SallyportError | null => {
  if (repository.kind !== 'reply') return errorOf(repository)
  if (repository.verdict.kind === 'refused') {
    return refusedError(repository.verdict, { keptFor: job.job_id })
  }
  try {
    requireRepository(job, { ...repository.verdict.repository, archived: false }, false)
    return null
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/** Why a readback is no evidence; null where it matched. */
export const readFailure = (job: Job, wire: Sent<ReadVerdict> | null): SallyportError | null => {
  if (wire?.kind !== 'reply') return errorOf(wire ?? { kind: 'sent', reason: 'not_read' })
  const { verdict } = wire
  if (verdict.kind === 'matches') return null
  const { reason, status, back } = verdict
  if (!isNoEvidence(reason)) {
    return refusedError({ code: reason, status, back }, { keptFor: job.job_id })
  }
  return fail.blocked(reason, noEvidence[reason], {
    reason, details: { job_id: job.job_id, status },
    next: 'Nothing changed here; look on the host, and try again later. If it stays so, use '
      + `another connection: \`${connectAnew(job)}\`.`,
  })
}

/** `conflict` `job_changed`. */
export const changedMeanwhile = ({ job_id }: Job) =>
  fail.conflict('job_changed', 'The job changed while it was read back.', {
    next: `Look at it: \`sallyport codehost jobs ${job_id}\`.`, details: { job_id },
  })
