/** Rows of the code host, for check, repair and restore; connections are governance's. */
import type { CapabilityRows } from '../governance/capability.js'
import { each } from '../state/each.js'
import { collectionsOf } from '../state/history/spec.js'
import type { HistorySpec, View } from '../state/types.js'
import { closureCollection } from './jobs/closed/closed-job-rows.js'
import { verifyClosures } from './closure/verify-closures.js'
import { exportedOfCodehost, operationsOfJobs } from './exported.js'
import { carryJobs, keepOccupied } from './jobs/carry.js'
import { jobHistories } from './jobs/histories.js'
import { stageProblems } from './jobs/publication/stages.js'
import { receiptCollection } from './jobs/receipt.js'
import { jobCollection, standingCollection } from './jobs/job-rows.js'
import { verifyJobs } from './jobs/verify-jobs.js'

/** Sessions that jobs, their approvals and standing authorities name. */
function* rootsOfCodehost(view: View): Generator<string, void, undefined> {
  for (const { doc: { root, approval } } of each(view, jobCollection)) {
    yield root
    if (approval !== null) yield approval.root
  }
  for (const { doc } of each(view, standingCollection)) yield doc.root
}

/** Its collections, its histories among them. */
export const codehostRows: CapabilityRows = {
  collections: [
    jobCollection, standingCollection, receiptCollection, closureCollection,
    ...Object.values(jobHistories)
      .flatMap((spec) => collectionsOf(spec as HistorySpec<unknown>)),
  ],
  rules: [verifyJobs, verifyClosures],
  exported: exportedOfCodehost,
  operationsOf: operationsOfJobs,
  carry: carryJobs,
  narrowed: keepOccupied,
  lying: stageProblems,
  rootsNamed: rootsOfCodehost,
}
