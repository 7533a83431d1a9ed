/**
 * Approving a publication: its stage is made and its producer bound before the record that says so.
 * One that is approved stays as it is while all of that would hold for its next run; where it would
 * not, the approval is taken back first, so that no run finds half of it.
 */
import { canonicalJson } from '../../../base/canonical.js'
import { fail, SallyportError } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { Tx } from '../../../state/types.js'
import { findTools, type ToolPlaces } from '../../producer/tools.js'
import type { Approval, Job } from '../job-rows.js'
import {
  bindProducer, nextProducerJob, nextRunProblem, registerBinding, unbindProducer,
  type BoundProducer,
} from './bind.js'
import { openPublication, type OpenPublication } from './open.js'
import { requireStageHere } from './stage-machine.js'

/** What the approval of a publication says of its producer, in the record that is being made. */
export type ProducerOf = (tx: Tx, now: string, job: Job) => Approval['producer']

/** How an approval is written, and how one is taken back; both answer the job as it is then. */
interface ApprovalRecords {
  readonly approve: (producerOf: ProducerOf) => Promise<Job>
  readonly withdraw: () => Promise<Job>
}

/** The connection may have been used meanwhile: then the run would be under another fence. */
const registered = (gov: Gov, bound: BoundProducer): ProducerOf => (tx, now, job) => {
  if (canonicalJson(nextProducerJob(tx, job)) !== canonicalJson(bound.binding.job)) {
    throw fail.conflict('job_changed', 'The connection was used while this was approved.', {
      next: 'Approve it again.', details: { job_id: job.job_id },
    })
  }
  return registerBinding(gov, tx, now, job, bound)
}

const bindAndRecord = async (
  gov: Gov, job: Job, open: OpenPublication, places: ToolPlaces | undefined,
  records: ApprovalRecords,
): Promise<Job> => {
  open.verify()
  const tools = await findTools(places)
  const bound = bindProducer(gov, gov.store.read(), job, open, tools)
  try {
    await gov.observer.at('codehost.bound')
    return await records.approve(registered(gov, bound))
  } catch (error) {
    // Where nobody tells whether the record came to be it may name both; left, they harm nobody.
    const mayStand = error instanceof SallyportError && error.kind === 'partial'
    if (!mayStand) unbindProducer(gov, bound)
    throw error
  }
}

/**
 * Approves a publication that was looked at. Throws `producer_unsupported` (blocked),
 * `producer_changed` and `job_changed` (conflict), `guard_held` (conflict) where another process
 * approves it just now, `of_other_machine` (rejected) where it is approved on another machine, what
 * `openPublication` throws, and the disk's failures.
 */
export const approvePublication = async (
  gov: Gov, seen: Job, places: ToolPlaces | undefined, records: ApprovalRecords,
): Promise<Job> => {
  const guard = await gov.store.holds.hold('job', seen.job_id)
  try {
    const view = gov.store.read()
    if (seen.state === 'approved') requireStageHere(gov.store, view, seen)
    const open = openPublication(gov, view, seen)
    try {
      if (seen.state !== 'approved') return await bindAndRecord(gov, seen, open, places, records)
      if (nextRunProblem(gov, view, seen, open) === null) return seen
      return await bindAndRecord(gov, await records.withdraw(), open, places, records)
    } finally {
      open.close()
    }
  } finally {
    guard.release()
  }
}
