/** Looking at jobs: a list, or one of them with a history. */
import { fail } from '../../base/errors.js'
import { historyHead, historyLines } from '../../state/history/read-history.js'
import type { Gov, Session } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { HistorySpec, View } from '../../state/types.js'
import type { StandingConnection } from '../../governance/connections/find-connection.js'
import { isUnread, requireOwnJob } from './change.js'
import { jobHistories, type JobHistoryName } from './histories.js'
import {
  jobCollection, jobsByConnection, jobsByConnectionState, jobsByOwner, jobsByOwnState, jobsByState,
  type JobState,
} from './job-rows.js'
import { receiptCollection, type ReceiptRow } from './receipt.js'
import { onItsWay, nextStepNow, type JobOnItsWay } from './next-step-now.js'

interface JobFilter {
  readonly connection?: string | undefined
  readonly state?: JobState | undefined
  /** Only those older than this one. */
  readonly after?: string | undefined
  /** Default 50. */
  readonly limit?: number | undefined
}

const listDefault = 50

/** The index whose entries are the wanted ones, so that no page reads beyond what it shows. */
const narrowest = (owner: string, { connection, state }: JobFilter) => {
  if (connection === undefined) {
    return state === undefined
      ? { index: jobsByOwner, under: [owner] } : { index: jobsByOwnState, under: [owner, state] }
  }
  return state === undefined
    ? { index: jobsByConnection, under: [owner, connection] }
    : { index: jobsByConnectionState, under: [owner, connection, state] }
}

/**
 * The operator's jobs, newest first. At most a page of rows is read, whatever is filtered by: the
 * bound comes before the filter (C-158).
 */
export const listJobs = (
  gov: Gov, view: View, { principal }: Session, filter: JobFilter = {},
): readonly JobOnItsWay[] => {
  const { limit = listDefault, after } = filter
  const { index, under } = narrowest(principal.principal_id, filter)
  return rowsUnder(view, jobCollection, index, { under, from: after, limit, reverse: true })
    .map(({ doc }) => onItsWay(gov, view, doc))
}

/** The operator's jobs in a state that no closing has ended, newest first. */
export const openJobs = (
  gov: Gov, view: View, { principal }: Session, state: JobState,
): readonly JobOnItsWay[] =>
  rowsUnder(view, jobCollection, jobsByOwnState, {
    under: [principal.principal_id, state], reverse: true,
  }).filter(({ doc }) => doc.closed === null).map(({ doc }) => onItsWay(gov, view, doc))

/**
 * How many jobs in a state, whoever's they are, wait for a person: no closing has ended them, and
 * they occupy a connection or did what nobody knows.
 */
export const openJobCount = (view: View, state: JobState): number =>
  rowsUnder(view, jobCollection, jobsByState, { under: [state] })
    .filter(({ doc }) => doc.closed === null
      && (doc.reserved || state === 'unknown_external_effect')).length

/** How many jobs may have been sent, as nobody can read any more: records of them are lost. */
export const unreadJobCount = (view: View): number =>
  rowsUnder(view, jobCollection, jobsByState, { under: ['blocked'] })
    .filter(({ doc }) => doc.closed === null && isUnread(doc)).length

/** A history of a job as it is counted, with canonical JSON of each entry, oldest first. */
const historyOf = (view: View, jobId: string, name: JobHistoryName) => {
  const spec = jobHistories[name] as HistorySpec<unknown>
  const { entries, bytes, digest } = historyHead(view, spec, jobId)
  return {
    name, entries, bytes, digest, entries_max: spec.entriesMax, bytes_max: spec.bytesMax,
    lines: [...historyLines(view, spec, jobId)],
  }
}

/** One of them. */
export type JobHistory = ReturnType<typeof historyOf>

/** One of the operator's jobs, with the history that was asked for. */
export const showJob = (
  gov: Gov, view: View, session: Session, jobId: string, history: JobHistoryName | undefined,
): JobOnItsWay & { readonly history: JobHistory | null } => {
  const job = requireOwnJob(view, session, jobId)
  const shown = history === undefined ? null : historyOf(view, jobId, history)
  return { ...onItsWay(gov, view, job), history: shown }
}

/** A sealed readback of a job, by its id. Throws `not_found` `readback_not_found`. */
export const shownReadback = (view: View, jobId: string, readbackId: string): ReceiptRow => {
  const row = view.get(receiptCollection, readbackId)
  if (row?.job_id === jobId) return row
  throw fail.notFound('readback_not_found', 'This job has no such readback.', {
    next: `Its receipt names one, as does \`sallyport codehost jobs ${jobId} --history reads\`.`,
    details: { job_id: jobId },
  })
}

/**
 * Whether a connection is occupied by a job that nothing can settle any more. Null where none
 * occupies it.
 */
export const isOccupiedForGood = (
  gov: Gov, view: View, { connection: { active_job_id: id } }: StandingConnection,
): boolean | null => {
  if (id === null) return null
  const job = view.get(jobCollection, id)
  return job === undefined || nextStepNow(gov, view, job).forGood
}
