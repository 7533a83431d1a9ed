/** What must hold of jobs, their histories and their receipts, for `state check`. Pure. */
import { digestOf } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import { findTask } from '../../governance/board/place.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Problem } from '../../governance/context.js'
import { findEach } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { isWholeApproval, isWholeAuthority } from './digests.js'
import { jobEntries, readHistory } from './histories.js'
import type { EffectLedger } from './effects.js'
import { publicationKind, publicCapabilities } from './kinds.js'
import { ledgerOf } from './ledger.js'
import { receiptCollection, type ReceiptRow } from './receipt.js'
import { holdsConnection } from './reserve.js'
import { jobCollection, standingCollection, type Job } from './job-rows.js'

const texts = {
  codehost_job_id: 'A job lies under another id than its own.',
  codehost_job_kind: 'A job declares the capability of another kind.',
  codehost_job_authority: 'A job rests on other values than those that it was prepared with.',
  codehost_job_plan: 'The plan of a job is not the one that its ledger registered.',
  codehost_job_ledger: 'A job and its effect ledger count differently.',
  codehost_job_order: 'A publication was sent out of its order, or before its local work was done.',
  codehost_job_capacity: 'A job and its connection disagree on whether it is occupied.',
  codehost_job_task: 'A job and its task contradict each other.',
  codehost_job_approval: 'A job ran without an approval of what it sends.',
  codehost_job_receipt: 'A job counts as done without a receipt of what was read back.',
} as const
type Code = keyof typeof texts

const waits = ({ state }: Job): boolean => state === 'prepared' || state === 'approved'

const agreesWithTask = (view: View, job: Job): boolean => {
  if (job.restored === true) return true
  if (job.task_id === null) return waits(job) || job.state === 'cancelled'
  const task = findTask(view, job.task_id)
  if (task?.job_id !== job.job_id || task.owner !== job.owner) return false
  if (task.state === 'succeeded') return job.state === 'succeeded'
  return job.state !== 'running' || ['queued', 'running'].includes(task.state)
}

/** Each POST rests on the ones before it, and the first on what was made on this machine. */
const isInOrder = (job: Job, { effects, producer, contacted, created }: EffectLedger): boolean =>
  job.native_kind !== publicationKind || contacted === 0 || (producer?.standing === 'complete'
    && created >= contacted - 1
    && effects.every(({ standing }, at) => (standing !== 'planned') === at < contacted))

const holdsOf = (view: View, id: string, job: Job): Record<Code, boolean> => {
  const ledger = ledgerOf(view, job.job_id)
  const connection = view.get(connectionCollection, job.connection_id)
  const { approval, receipt_id: receipt } = job
  return {
    codehost_job_id: job.job_id === id,
    codehost_job_kind: publicCapabilities[job.native_kind] === job.capability,
    codehost_job_authority: isWholeAuthority(job),
    codehost_job_plan: ledger.plan?.sha256 === job.plan.sha256
      && ledger.plan.authority_sha256 === job.authority_sha256,
    codehost_job_ledger: job.restored === true
      || (ledger.contacted === job.contacted && ledger.created === job.created),
    codehost_job_order: job.restored === true || isInOrder(job, ledger),
    codehost_job_capacity: job.restored === true
      || job.reserved === holdsConnection(connection, job),
    codehost_job_task: agreesWithTask(view, job),
    // What was approved anew after a run that sent nothing has none while that is recorded.
    codehost_job_approval: approval === null
      ? job.contacted === 0 && !job.reserved
      : approval.preview_sha256 === job.preview_sha256 && isWholeApproval(id, approval),
    codehost_job_receipt: job.state !== 'succeeded' || (receipt !== null
      && view.get(receiptCollection, receipt)?.job_id === job.job_id),
  }
}

const jobProblems = (view: View): Problem[] =>
  findEach(view, jobCollection, ({ id, doc }): Problem[] => {
    try {
      const found = holdsOf(view, id, doc)
      return (Object.keys(texts) as Code[]).filter((code) => !found[code])
        .map((code) => ({ code, subject: id, text: texts[code] }))
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      return [{ code: 'codehost_job_ledger', subject: id, text: texts.codehost_job_ledger }]
    }
  })

const isRecorded = (view: View, { job_id: jobId, receipt }: ReceiptRow): boolean => {
  try {
    return jobEntries(view, readHistory, jobId)
      .some(({ receipts }) => receipts.includes(receipt.readback_sha256))
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

const receiptProblems = (view: View): Problem[] =>
  findEach(view, receiptCollection, ({ id, doc }) => {
    const { readback_sha256: digest, ...unsigned } = doc.receipt
    const isMade = doc.readback_id === id && digestOf(unsigned) === digest
    return isMade && isRecorded(view, doc) ? [] : [{
      code: 'codehost_receipt', subject: id,
      text: 'A receipt is not one that was made and recorded.',
    }]
  })

const standingProblems = (view: View): Problem[] =>
  findEach(view, standingCollection, ({ id, doc }) => {
    const isRight = doc.standing_id === id && doc.jobs.length <= doc.jobs_max
      && new Set(doc.jobs).size === doc.jobs.length
    return isRight ? [] : [{
      code: 'codehost_standing', subject: id, text: 'A standing authority stands for too much.',
    }]
  })

const strayProblems = (view: View): Problem[] =>
  view.all(connectionCollection)
    .filter(({ doc: { active_job_id: id } }) =>
      id !== null && view.get(jobCollection, id) === undefined)
    .map(({ id }) => ({
      code: 'codehost_occupied_by_none', subject: id,
      text: 'A connection is occupied by a job that is not there.',
    }))

/** Every way in which they contradict each other or what they name. */
export const verifyJobs = (view: View): Problem[] => [
  ...jobProblems(view), ...receiptProblems(view), ...standingProblems(view),
  ...strayProblems(view),
]
