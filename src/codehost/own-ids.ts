/** The ids of the code host that may be given in short; connections are governance's. */
import { ownedIds, type IdKind } from '../governance/short-ids.js'
import {
  closureCollection, closuresByOwner, closuresByTail,
} from './jobs/closed/closed-job-rows.js'
import { jobCollection, jobsByOwner, jobsByTail } from './jobs/job-rows.js'

/** Jobs. */
export const jobIds = ownedIds('job', jobCollection, {
  tail: jobsByTail, owner: jobsByOwner,
}, ({ owner }) => owner)

/** The same where a folder may stand instead. */
export const namedJobIds: IdKind = { ...jobIds, typed: true }

/** Closures. */
export const closureIds = ownedIds('cls', closureCollection, {
  tail: closuresByTail, owner: closuresByOwner,
}, ({ owner }) => owner)
