/**
 * Publications whose branches are numbered: what `{id}` in the name of a branch stands for, and
 * which pull request a new one follows. Each is a branch of its own; none is ever moved (C-029).
 */
import { digestOf } from '../../base/canonical.js'
import { shortOf } from '../../base/ids.js'
import type { Connection } from '../../governance/connections/connection-rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { jobCollection, provedBySeries, type Job } from './job-rows.js'

/** What a name has where the job is to be named. */
export const idPlace = '{id}'

/** Whether a name of a branch has a place for the job. */
export const isNumbered = (branch: string): boolean => branch.includes(idPlace)

/** The end of its id that lists show a job by, which names it without its type. */
const numberOf = (jobId: string): string => shortOf(jobId).slice('job_'.length)

/** The name with the job in its place: known before anything is sent, the same each time. */
export const numberedBranch = (branch: string, jobId: string): string =>
  branch.replaceAll(idPlace, numberOf(jobId))

/** Publications through one connection to one repository under one name. */
export const seriesOf = (
  { connection_id: connection, repository, repository_id: number }: Pick<
    Connection, 'connection_id' | 'repository' | 'repository_id'
  >, branch: string,
): string => digestOf({ series: 'codehost.series.v1', connection, repository, number, branch })

/**
 * The line by which the body of a pull request names the one that it follows: the newest of its
 * series that was read back whole. Null where there is none, and what is unknown is not named.
 */
export const followLine = (
  view: View, { owner, series }: Pick<Job, 'owner' | 'series'>, branch: string,
): string | null => {
  if (series === undefined) return null
  const [newest] = rowsUnder(view, jobCollection, provedBySeries, {
    under: [owner, series], reverse: true, limit: 1,
  })
  return newest === undefined ? null
    : `Follows #${newest.doc.remote?.id ?? 0} (\`${numberedBranch(branch, newest.id)}\`).`
}

/** A body with that line behind it, as a paragraph of its own. */
export const withFollowed = (body: string, line: string | null): string => {
  if (line === null) return body
  const above = body.replace(/\n+$/, '')
  return above === '' ? `${line}\n` : `${above}\n\n${line}\n`
}
