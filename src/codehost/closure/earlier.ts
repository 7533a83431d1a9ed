/**
 * Sealed readbacks of earlier operations: which of them are of the very same serialized intent, and
 * so serve in place of a read of now (C-241, C-242).
 */
import { digestOf } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import { findTask } from '../../governance/board/place.js'
import type { Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { journalLabel } from '../constants.js'
import { jobEntries, readHistory } from '../jobs/histories.js'
import {
  isSealed, receiptCollection, receiptsByJob, type EffectIdentity, type ReceiptRow,
} from '../jobs/receipt.js'
import type { Job } from '../jobs/job-rows.js'

const isOfJob = ({ receipt }: ReceiptRow, view: View, job: Job): boolean => {
  const task = job.task_id === null ? undefined : findTask(view, job.task_id)
  return receipt.job_id === job.job_id && receipt.principal === job.owner
    && receipt.root === job.root && receipt.native_kind === job.native_kind
    && receipt.capability === job.capability && receipt.attempt === job.attempt
    && receipt.count === job.contacted && receipt.authority_sha256 === job.authority_sha256
    && receipt.input_sha256 === job.input_sha256 && receipt.run_sha256 === job.run_sha256
    && receipt.task?.attempt === task?.attempt && receipt.task?.fence === task?.lease_fence
    && digestOf(receipt.write_binding) === digestOf(job.consent)
    && digestOf(receipt.vault) === digestOf(job.vault)
    && receipt.connection_id === job.connection_id && receipt.repository === job.repository
    && receipt.repository_id === job.repository_id
}

/** The serialized intent that an earlier readback has to be of. */
interface SameIntent {
  readonly effect: EffectIdentity
  readonly remoteId: number | null
  /** Left out where it has none. */
  readonly objectId?: string
}

const isOfEffect = (
  { receipt: { effect: told } }: ReceiptRow, { effect, remoteId, objectId }: SameIntent,
): boolean => told.effect_id === effect.effect_id && told.number === effect.number
  && told.action === effect.action && told.path === effect.path
  && told.body_sha256 === effect.body_sha256 && told.idempotency === effect.idempotency
  && told.remote_id === remoteId && told.object_id === objectId

/** The receipt lies in the sealed journal that its row names, and the READ history names both. */
const isKept = (gov: Pick<Gov, 'store'>, view: View, { receipt, journal }: ReceiptRow): boolean => {
  const named = jobEntries(view, readHistory, receipt.job_id).some(({ receipts, journals }) =>
    receipts.includes(receipt.readback_sha256) && journals.some((one) =>
      one.artifact_id === journal.artifact_id && one.sha256 === journal.sha256))
  if (!named) return false
  try {
    const bytes = readArtifact(gov, view, journal.artifact_id, journalLabel)
    const { receipts } = JSON.parse(bytes.toString('utf8')) as { receipts: readonly unknown[] }
    return receipts.some((one) => digestOf(one) === digestOf(receipt))
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

/** Finds an earlier sealed readback of an intent of a job; null where there is none. */
export const earlierReadbacks = (
  gov: Pick<Gov, 'store'>, view: View, job: Job,
): ((intent: SameIntent) => ReceiptRow | null) => {
  const rows = rowsUnder(view, receiptCollection, receiptsByJob, { under: [job.job_id] })
    .map(({ doc }) => doc)
    .filter((row) => isSealed(gov.store, row) && isOfJob(row, view, job))
  return (intent) =>
    rows.find((row) => isOfEffect(row, intent) && isKept(gov, view, row)) ?? null
}
