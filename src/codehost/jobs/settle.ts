/**
 * What a readback that matched makes of its job, in the record that keeps its proof: success, with
 * the connection freed, where owner, session and goal are still what they were; an explicit
 * `blocked` that keeps the verified effect otherwise (C-025, C-026, C-109, C-110).
 */
import { newId } from '../../base/ids.js'
import { registerArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import type { Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import { journalLabel } from '../constants.js'
import { requireUnclosed } from '../closure/fence.js'
import { writeDenials, type Asked } from './boundary.js'
import { putJob, requireJobRevision } from './change.js'
import { appendEntry, artifactHistory, readHistory, type readPurposes } from './histories.js'
import { receiptCollection, receiptRow, type ReadReceipt } from './receipt.js'
import { releaseConnection } from './reserve.js'
import { jobCollection, jobsByRemote, remoteKey, type Job } from './rows.js'

/** What was read back. */
export interface Proven {
  readonly purpose: (typeof readPurposes)[number]
  readonly operationId: string
  readonly receipts: readonly ReadReceipt[]
  readonly journal: ArtifactRef
  readonly rawBytes: number
  /** Requests that it took; left out: one a receipt. */
  readonly gets?: number
}

/** Keeps what was read back: journal, history and rows of its receipts. */
export const keepProof = (
  { gov: { store } }: { readonly gov: Pick<Gov, 'store'> }, tx: Tx, now: string, job: Job,
  proven: Proven,
): void => {
  const { receipts, journal, purpose, operationId, rawBytes } = proven
  const artifact_id = newId('art')
  registerArtifact(tx, now, {
    artifactId: artifact_id, label: journalLabel, ref: journal, owner: job.owner,
    taskId: job.task_id, adopted: true,
  })
  const named = { artifact_id, sha256: journal.sha256 }
  appendEntry(tx, artifactHistory, job.job_id, {
    at: now, artifact_id, label: journalLabel, sha256: journal.sha256,
    stored_sha256: journal.stored_sha256, bytes: journal.bytes,
  })
  appendEntry(tx, readHistory, job.job_id, {
    at: now, operation_id: operationId, purpose, read_revision: receipts[0]?.read_revision ?? 0,
    gets: proven.gets ?? receipts.length, raw_bytes: rawBytes, journals: [named],
    receipts: receipts.map(({ readback_sha256: digest }) => digest),
  })
  for (const receipt of receipts) {
    tx.put(receiptCollection, receipt.readback_id, receiptRow(store, receipt, named))
  }
}

/**
 * Why what was read back does not prove this job: another one was proved by the very same issue,
 * comment or pull request, so that one of the two was never made.
 */
const takenBy = (tx: Tx, job: Job): { readonly name: string } | undefined => {
  const under = remoteKey(job)
  if (under === null) return undefined
  const taken = rowsUnder(tx, jobCollection, jobsByRemote, { under })
    .some(({ id, doc }) => id !== job.job_id && doc.state === 'succeeded')
  return taken ? { name: 'remote_taken' } : undefined
}

/** Settles a job on its receipts; answers its row. Throws `conflict` `job_changed`. */
export const settleProven = (
  asked: Asked, tx: Tx, now: string, job: Job, proven: Proven,
): Job => {
  const [first] = proven.receipts
  if (first === undefined) throw new TypeError('a readback without a receipt settles nothing')
  requireUnclosed(tx, job, 'finalize')
  requireJobRevision(job, first.job_revision)
  keepProof(asked, tx, now, job, proven)
  const denial = takenBy(tx, job) ?? writeDenials(asked, tx, job, 'adopt')[0]
  const by = { principal: job.owner, root: job.root, subject: job.job_id }
  tx.mark()
  if (denial !== undefined) {
    appendAudit(tx, now, {
      what: 'codehost.incomplete', ...by,
      facts: { reason: denial.name, readback: first.readback_id },
    })
    return putJob(tx, now, job, {
      state: 'blocked', reason: denial.name, receipt_id: first.readback_id,
    })
  }
  if (job.reserved) releaseConnection(tx, now, job, 'succeeded', proven.operationId)
  appendAudit(tx, now, {
    what: 'codehost.succeeded', ...by, facts: { readback: first.readback_id },
  })
  return putJob(tx, now, job, {
    state: 'succeeded', reason: null, reserved: false, receipt_id: first.readback_id,
  })
}
