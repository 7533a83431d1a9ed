/** Rows of the code host, for check, repair and restore; connections are governance's. */
import type { CapabilityRows } from '../governance/capability.js'
import { collectionsOf } from '../state/history/spec.js'
import type { HistorySpec } from '../state/types.js'
import { closureCollection } from './jobs/closed/closed-job-rows.js'
import { verifyClosures } from './closure/verify-closures.js'
import { exportedOfCodehost, operationsOfJobs } from './exported.js'
import { carryJobs, keepOccupied } from './jobs/carry.js'
import { jobHistories } from './jobs/histories.js'
import { stageProblems } from './jobs/publication/stages.js'
import { receiptCollection } from './jobs/receipt.js'
import { jobCollection, standingCollection } from './jobs/job-rows.js'
import { verifyJobs } from './jobs/verify-jobs.js'

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
}
