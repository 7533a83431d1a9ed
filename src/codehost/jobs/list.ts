/** Looking at jobs: a list, or one of them with a history. */
import { historyHead, historyLines } from '../../state/history/read.js'
import { orUndefined } from '../../governance/judge/fact.js'
import type { Gov } from '../../governance/context.js'
import { liveRoot } from '../../governance/session/live.js'
import type { Session } from '../../governance/session/types.js'
import { walkIndex } from '../../state/indexes.js'
import type { HistorySpec, View } from '../../state/types.js'
import { grantStateAt, type StandingConnection } from '../../governance/connections/read.js'
import type { Connection } from '../../governance/connections/rows.js'
import { lyingStops } from '../../governance/stops/folder.js'
import { vaultDigest } from '../../governance/vault.js'
import { requireOwnJob } from './change.js'
import { jobHistories, type JobHistoryName } from './histories.js'
import {
  jobCollection, jobsByConnection, jobsByOwner, jobsByOwnState, type Job, type JobState,
} from './rows.js'
import { wayOn } from './way-on.js'

/** Which jobs are wanted. */
export interface JobFilter {
  readonly connection?: string | undefined
  readonly state?: JobState | undefined
  /** Default 50. */
  readonly limit?: number | undefined
}

const listDefault = 50

const narrowest = (owner: string, { connection, state }: JobFilter) => {
  if (connection !== undefined) return { index: jobsByConnection, under: [owner, connection] }
  return state === undefined
    ? { index: jobsByOwner, under: [owner] } : { index: jobsByOwnState, under: [owner, state] }
}

/** The operator's jobs, newest first; a long list is read no further than it is shown. */
export const listJobs = (
  view: View, { principal }: Session, filter: JobFilter = {},
): readonly Job[] => {
  const { limit = listDefault, state } = filter
  const { index, under } = narrowest(principal.principal_id, filter)
  const found: Job[] = []
  for (const { id } of walkIndex(view, jobCollection, index, { under, reverse: true })) {
    const job = view.get(jobCollection, id)
    if (job !== undefined && (state === undefined || job.state === state)) found.push(job)
    if (found.length >= limit) break
  }
  return found
}

/** A history of a job as it is counted. */
export interface JobHistory {
  readonly name: JobHistoryName
  readonly entries: number
  readonly bytes: number
  readonly entries_max: number
  readonly bytes_max: number
  readonly digest: string
  /** Canonical JSON of each entry, oldest first. */
  readonly lines: readonly string[]
}

const historyOf = (view: View, jobId: string, name: JobHistoryName): JobHistory => {
  const spec = jobHistories[name] as HistorySpec<unknown>
  const { entries, bytes, digest } = historyHead(view, spec, jobId)
  return {
    name, entries, bytes, digest, entries_max: spec.entriesMax, bytes_max: spec.bytesMax,
    lines: [...historyLines(view, spec, jobId)],
  }
}

/** One of the operator's jobs, with the history that was asked for. */
export const showJob = (
  view: View, session: Session, jobId: string, history: JobHistoryName | undefined,
): { readonly job: Job; readonly history: JobHistory | null } => {
  const job = requireOwnJob(view, session, jobId)
  return { job, history: history === undefined ? null : historyOf(view, jobId, history) }
}

/** Only its own consent lets the rest of a publication be sent, and no other takes its place. */
const isStranded = (gov: Gov, view: View, job: Job, connection: Connection): boolean =>
  job.state === 'blocked' && job.created < job.plan.effects
    && (connection.consent?.consent_id !== job.consent.consent_id
      || grantStateAt(gov, view, connection, lyingStops(gov.store.stopsDir)) !== 'issued')

/**
 * Whether a connection is occupied by a job that nothing can settle any more: its session ended,
 * its token is another one, the consent to send the rest of it has ended, or what it waits for is
 * not to be had. Null where none occupies it.
 */
export const isOccupiedForGood = (
  gov: Gov, view: View, { connection }: StandingConnection,
): boolean | null => {
  const id = connection.active_job_id
  if (id === null) return null
  const job = view.get(jobCollection, id)
  if (job === undefined) return true
  return wayOn(job).forGood || isStranded(gov, view, job, connection)
    || orUndefined(() => liveRoot(view, gov, job.root)) === undefined
    || vaultDigest(view, connection.credential_ref) !== job.vault.sha256
}
