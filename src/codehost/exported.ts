/** What an owner takes along of the code host: jobs with their histories, and what closed them. */
import { own, type Exported, type Taker } from '../governance/exported.js'
import { each } from '../state/each.js'
import type { HistorySpec, View } from '../state/types.js'
import { closureCollection } from './jobs/closed/closed-job-rows.js'
import { checkpointHistory, jobHistories, readHistory } from './jobs/histories.js'
import { receiptCollection } from './jobs/receipt.js'
import { jobCollection, standingCollection } from './jobs/job-rows.js'

type Owned = Pick<Taker, 'view' | 'owner'>

const isOwnJob = ({ view, owner }: Owned, jobId: string): boolean =>
  view.get(jobCollection, jobId)?.owner === owner

/** Ids of entries and heads begin with the job and a slash. */
const isOfOwnJob = (taker: Owned, id: string): boolean =>
  isOwnJob(taker, id.split('/')[0] ?? '')

const ofHistory = ({ entries, heads }: HistorySpec<unknown>): readonly Exported[] => [
  own(entries, (_doc, taker, id) => isOfOwnJob(taker, id)),
  own(heads, (_doc, taker, id) => isOfOwnJob(taker, id)),
]

/** Runs and reads of the owner's jobs: they cost nothing, so that no money tells whose they are. */
export function* operationsOfJobs(view: View, owner: string): Generator<string> {
  for (const { id, doc: { entry } } of each(view, readHistory.entries)) {
    if (isOfOwnJob({ view, owner }, id)) yield entry.operation_id
  }
  for (const { id, doc: { entry } } of each(view, checkpointHistory.entries)) {
    if (entry.what === 'closed' || entry.operation_id === null) continue
    if (isOfOwnJob({ view, owner }, id)) yield entry.operation_id
  }
}

/** What is given out. */
export const exportedOfCodehost: readonly Exported[] = [
  own(jobCollection, (doc, { owner }) => doc.owner === owner),
  own(standingCollection, (doc, { owner }) => doc.owner === owner),
  own(receiptCollection, (doc, taker) => isOwnJob(taker, doc.job_id)),
  own(closureCollection, (doc, { owner }) => doc.owner === owner),
  ...Object.values(jobHistories).flatMap((spec) => ofHistory(spec as HistorySpec<unknown>)),
]
