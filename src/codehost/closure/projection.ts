/**
 * What lists and single views tell of a job's closure, and whether it can be closed now. A row is
 * offered only where its kind is one of the two, its plan the one that its ledger registered, it
 * was not taken over from an old copy, and the session that looks is the one that prepared it;
 * nothing is ever acknowledged by it (C-157 to C-161). Pure.
 */
import { findTask } from '../../governance/board/place.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Session } from '../../governance/context.js'
import { historyPage } from '../../state/history/read-history.js'
import type { View } from '../../state/types.js'
import { effectHistory } from '../jobs/histories.js'
import { publicCapabilities } from '../jobs/kinds.js'
import { holdsConnection } from '../jobs/reserve.js'
import type { Job } from '../jobs/job-rows.js'
import { isLeased } from './bindings.js'
import { closableStates } from './eligible.js'
import { closedBy } from '../jobs/closed/fence.js'
import {
  closureCollection, type ClosureView, type NotClosable,
} from '../jobs/closed/closed-job-rows.js'

const isRegistered = (view: View, job: Job): boolean => {
  const [first] = historyPage(view, effectHistory, job.job_id, { limit: 1, lost: 'told' })
  return first?.entry.type === 'plan' && first.entry.sha256 === job.plan.sha256
    && first.entry.authority_sha256 === job.authority_sha256
}

const isHeld = (view: View, job: Job): boolean => job.reserved
  && holdsConnection(view.get(connectionCollection, job.connection_id), job)

const notClosable = (view: View, { root }: Session, job: Job): NotClosable | null => {
  if (job.closed !== null) return 'closed'
  if (!closableStates.includes(job.state)) return 'state'
  if (closedBy(view, job) !== null) return 'closed'
  if (publicCapabilities[job.native_kind] !== job.capability) return 'kind'
  if (job.restored === true) return 'restored'
  if (job.root !== root.root_id) return 'root'
  if (!isHeld(view, job)) return 'capacity_free'
  if (isLeased(job.task_id === null ? undefined : findTask(view, job.task_id))) return 'leased'
  return isRegistered(view, job) ? null : 'plan'
}

export const closureView = (view: View, session: Session, job: Job): ClosureView => ({
  notClosable: notClosable(view, session, job),
  closure: job.closed === null
    ? null : view.get(closureCollection, job.closed.closure_id) ?? null,
})
