/**
 * The receipt of a closure, made in the record that closes, out of the rows as they are then, and
 * read back from there whenever it is shown: the first answer, every retry and every inspection are
 * the same bytes (C-122 to C-124, C-185, C-289).
 */
import { canonicalJson } from '../../base/canonical.js'
import { findTask } from '../../governance/board/place.js'
import type { Store, View } from '../../state/types.js'
import type { Job } from '../jobs/job-rows.js'
import type { Identified } from './eligible.js'
import type { ProducerStatus } from './kind.js'
import type { ReadRequest } from '../jobs/closed/request.js'
import type { ClosureReceipt } from '../jobs/closed/receipt-shape.js'

/** What a closure says of itself, whatever the job. */
const statement = 'All potentially contacted effects were observed and the capacity of the '
  + 'connection is closed. Job and task stay Unknown or blocked as they were; nothing was learned '
  + 'of them. Approval, Goal and finance history are unchanged. The job never runs again.'

/** What a receipt is made from, besides rows. */
export interface ReceiptParts {
  readonly closureId: string
  readonly at: string
  readonly read: ReadRequest
  readonly artifactSha256: string
  readonly journals: readonly string[]
  readonly fresh: number
  readonly earlier: number
  readonly gets: number
  readonly rawBytes: number
  readonly producer: ProducerStatus
}

const taskOf = (view: View, { task_id: id }: Job): ClosureReceipt['task'] => {
  const task = id === null ? undefined : findTask(view, id)
  return task === undefined
    ? null : { id: task.task_id, state: task.state, blocked: task.blocked?.kind ?? null }
}

const evidenceOf = (parts: ReceiptParts): ClosureReceipt['evidence'] => ({
  artifact_sha256: parts.artifactSha256, journals: [...parts.journals], fresh: parts.fresh,
  earlier: parts.earlier, gets: parts.gets, raw_bytes: parts.rawBytes,
})

const jobOf = (job: Job): ClosureReceipt['job'] => ({
  id: job.job_id, kind: job.native_kind, capability: job.capability, state: job.state,
  reason: job.reason, attempt: job.attempt, revision_before: job.revision,
  revision: job.revision + 1,
})

const unsealed = (
  view: View, { job, connection }: Identified, parts: ReceiptParts,
): Omit<ClosureReceipt, 'seal'> => {
  return {
    schema: 'svc.codehost.closure-receipt.v1', recovery_contract: 'V3',
    closure_id: parts.closureId, closed_at: parts.at, principal: job.owner, root: job.root,
    job: jobOf(job), task: taskOf(view, job),
    connection: {
      id: connection.connection_id, repository: job.repository,
      repository_id: job.repository_id, revision: connection.revision, mode: connection.mode,
      fence: connection.active_fence,
    },
    request: { sha256: parts.read.sha256, idempotency_key: parts.read.request.idempotency_key },
    // The inventory was compared with both, and the ledger with the one that it was made from.
    effects: {
      planned: job.plan.effects, contacted: job.contacted, observed: parts.fresh + parts.earlier,
    },
    evidence: evidenceOf(parts),
    producer: { ...parts.producer },
    all_potentially_contacted_effects_observed: true, capacity_closed: true,
    job_and_task_unresolved: true, execution_fenced_for_good: true, no_learning: true,
    approval_history_unchanged: true, goal_history_unchanged: true,
    finance_history_unchanged: true, statement,
  }
}

/** The seal of a receipt; it needs the key of the store. */
const sealOfReceipt = (
  store: Pick<Store, 'keyedDigest'>, receipt: Omit<ClosureReceipt, 'seal'>,
): string => store.keyedDigest('codehost closure receipt', Buffer.from(canonicalJson(receipt)))

/** The receipt of a closure. Pure but for the store's key. */
export const mintClosureReceipt = (
  store: Pick<Store, 'keyedDigest'>, view: View, of: Identified, parts: ReceiptParts,
): ClosureReceipt => {
  const receipt = unsealed(view, of, parts)
  return { ...receipt, seal: sealOfReceipt(store, receipt) }
}

/** Whether every byte of a receipt is as it was sealed by this store's key. */
export const isOwnReceipt = (
  store: Pick<Store, 'keyedDigest'>, { seal, ...receipt }: ClosureReceipt,
): boolean => seal === sealOfReceipt(store, receipt)
