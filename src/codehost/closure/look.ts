/** Looking at closures and kept requests, and dropping one that is decided; no contact. */
import { fail } from '../../base/errors.js'
import type { Gov, Session } from '../../governance/context.js'
import { liveSession } from '../../governance/session/live.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { requireOwnJob } from '../jobs/change.js'
import { closureLimits } from '../jobs/closed/closed-job-limits.js'
import { dropPending, pendingOfJob, readPending, type Pending } from '../jobs/closed/pending.js'
import { closeRequestJson, closeRequestOf, type ReadRequest } from '../jobs/closed/request.js'
import { closureCollection, closuresByOwner, type Closure } from '../jobs/closed/closed-job-rows.js'
import { pendingVerdict, type PendingVerdict } from './verdict.js'

const listDefault = 50

/** The operator's closures, newest first; a long list is read no further than it is shown. */
export const listClosures = (
  view: View, { principal }: Session, { limit = listDefault, after }: {
    readonly limit?: number | undefined
    /** Only those older than this one. */
    readonly after?: string | undefined
  } = {},
): readonly Closure[] =>
  rowsUnder(view, closureCollection, closuresByOwner, {
    under: [principal.principal_id], from: after, limit, reverse: true,
  }).map(({ doc }) => doc)

/** One of the operator's closures. Throws `not_found` `closure_not_found`. */
export const showClosure = (view: View, { principal }: Session, closureId: string): Closure => {
  const found = view.get(closureCollection, closureId)
  if (found?.owner === principal.principal_id) return found
  throw fail.notFound('closure_not_found', 'There is no such closure.', {
    next: 'Run `sallyport codehost recover closures`.',
  })
}

/** Which kept request is meant, where a job has several. */
interface PendingChoice {
  readonly jobId: string
  readonly key?: string | undefined
}

/**
 * The kept request of a job. Throws `not_found` `pending_missing`, `conflict` `pending_several`,
 * `blocked` `pending_altered`.
 */
export const keptRequest = ({ store }: Pick<Gov, 'store'>, choice: PendingChoice): Pending => {
  const { jobId, key } = choice
  const named = key === undefined ? undefined : readPending(store.dir, key)
  const found = key === undefined ? pendingOfJob(store.dir, jobId)
    : named?.jobId === jobId ? [named] : []
  const [first, ...more] = found
  if (first !== undefined && more.length === 0) return first
  const details = { job_id: jobId }
  if (first === undefined) {
    throw fail.notFound('pending_missing', 'No request for this job is kept here.', { details })
  }
  throw fail.conflict('pending_several', 'Several requests for this job are kept: name one.', {
    next: 'Give --idempotency-key; the files in pending/ are called by it.',
    details: { ...details, kept: found.length },
  })
}

/** What an inspection found. */
export interface Inspection {
  readonly jobId: string
  readonly read: ReadRequest
  readonly verdict: PendingVerdict
}

/** Of a job that was found to be the operator's own. */
const inspected = (gov: Gov, session: Session, jobId: string, read: ReadRequest): Inspection => {
  const view = gov.store.read()
  liveSession(view, gov, session.root.root_id)
  return { jobId, read, verdict: pendingVerdict(view, jobId, read) }
}

/**
 * The exact request that somebody has, as text, under the current owner and a live session. Throws
 * `rejected` (`inspect_too_long`, `json_…`, `request_invalid`), `not_found`, `unauthorized`.
 */
export const inspectText = (
  gov: Gov, session: Session, jobId: string, text: string,
): Inspection => {
  if (text.length > closureLimits.inspectCharsMax) {
    throw fail.rejected('inspect_too_long', 'A request to inspect has at most 2048 characters.', {
      details: { chars_max: closureLimits.inspectCharsMax },
    })
  }
  const value = closeRequestJson(Buffer.from(text))
  const job = requireOwnJob(gov.store.read(), session, jobId)
  return inspected(gov, session, jobId, closeRequestOf(value, job.native_kind))
}

/** The request that is kept here. Throws as `keptRequest`. */
export const inspectKept = (gov: Gov, session: Session, choice: PendingChoice): Inspection => {
  requireOwnJob(gov.store.read(), session, choice.jobId)
  return inspected(gov, session, choice.jobId, keptRequest(gov, choice).read)
}

/**
 * Drops the kept request of a job, once a fresh inspection has proved that it was applied or never
 * can be. Throws `conflict` (`pending_inconclusive`, `pending_several`, `pending_changed`),
 * `not_found`, `blocked` `pending_altered`; then it stays (C-144 to C-150).
 */
export const discardKept = (gov: Gov, session: Session, choice: PendingChoice): Inspection => {
  requireOwnJob(gov.store.read(), session, choice.jobId)
  const kept = keptRequest(gov, choice)
  const inspection = inspected(gov, session, choice.jobId, kept.read)
  if (inspection.verdict.verdict === 'inconclusive') {
    throw fail.conflict(
      'pending_inconclusive', 'It is not proved that this request can never apply: it stays.', {
        next: `Send it again: \`sallyport codehost close-capacity ${choice.jobId} --retry\`.`,
        details: { job_id: choice.jobId },
      },
    )
  }
  dropPending(gov.store.dir, kept)
  return inspection
}
