/**
 * What a readback that matched makes of its job, in the record that keeps its proof: success, with
 * the connection freed, where owner, session and goal are still what they were; an explicit
 * `blocked` that keeps the verified effect otherwise (C-025, C-026, C-109, C-110).
 */
import { newId } from '../../base/ids.js'
import { registerArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import type { Gov } from '../../governance/context.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import { journalLabel } from '../constants.js'
import { requireUnclosed } from './closed/fence.js'
import { writeDenials, type Asked } from './boundary.js'
import { putJob } from './change.js'
import { appendEntry, artifactHistory, readHistory, type readPurposes } from './histories.js'
import { provesAnother, receiptCollection, receiptRow, type ReadReceipt } from './receipt.js'
import { releaseConnection } from './reserve.js'
import type { Job } from './job-rows.js'

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

/** What was read back, in several sealed journals. */
interface KeptReads extends Pick<Proven, 'purpose' | 'operationId' | 'rawBytes'> {
  readonly journals: readonly {
    readonly ref: ArtifactRef
    readonly receipts: readonly ReadReceipt[]
  }[]
  /** Those of the receipts that get a row. */
  readonly rowed: readonly ReadReceipt[]
  readonly gets: number
}

const keepJournal = (
  tx: Tx, now: string, job: Job, ref: ArtifactRef,
): { readonly artifact_id: string, readonly sha256: string } => {
  const artifactId = newId('art')
  registerArtifact(tx, now, {
    artifactId, label: journalLabel, ref, owner: job.owner, taskId: job.task_id, adopted: true,
  })
  appendEntry(tx, artifactHistory, job.job_id, {
    at: now, artifact_id: artifactId, label: journalLabel, sha256: ref.sha256,
    stored_sha256: ref.stored_sha256, bytes: ref.bytes,
  })
  return { artifact_id: artifactId, sha256: ref.sha256 }
}

/** Keeps what one operation read back: journals, one line of the history, rows of receipts. */
export const keepReads = (
  { gov: { store } }: { readonly gov: Pick<Gov, 'store'> }, tx: Tx, now: string, job: Job,
  { journals, rowed, purpose, operationId, rawBytes, gets }: KeptReads,
): void => {
  const named = journals.map(({ ref, receipts }) => ({
    journal: keepJournal(tx, now, job, ref), receipts: new Set(receipts),
  }))
  appendEntry(tx, readHistory, job.job_id, {
    at: now, operation_id: operationId, purpose, read_revision: rowed[0]?.read_revision ?? 0,
    gets, raw_bytes: rawBytes, journals: named.map(({ journal }) => journal),
    receipts: rowed.map(({ readback_sha256: digest }) => digest),
  })
  for (const receipt of rowed) {
    const found = named.find(({ receipts }) => receipts.has(receipt))
    if (found === undefined) throw new TypeError('a receipt lies in one of its journals')
    tx.put(receiptCollection, receipt.readback_id, receiptRow(store, receipt, found.journal))
  }
}

/** Keeps what was read back: its one journal, history and rows of its receipts. */
export const keepProof = (
  asked: { readonly gov: Pick<Gov, 'store'> }, tx: Tx, now: string, job: Job,
  { receipts, journal, gets = receipts.length, ...proven }: Proven,
): void => keepReads(asked, tx, now, job, {
  ...proven, gets, journals: [{ ref: journal, receipts }], rowed: receipts,
})

/**
 * Settles a job on its receipts; answers its row. `found` writes down what they prove besides, and
 * answers the job as it is counted then. It is at the revision that they were read at.
 */
export const settleProven = (
  asked: Asked, tx: Tx, now: string, seen: Job, proven: Proven,
  found: (job: Job) => Job = (job) => job,
): Job => {
  const [first] = proven.receipts
  if (first === undefined) throw new TypeError('a readback without a receipt settles nothing')
  requireUnclosed(tx, seen, 'finalize')
  const isTaken = provesAnother(tx, seen, proven.receipts.map(({ effect }) => effect))
  const job = isTaken ? seen : found(seen)
  keepProof(asked, tx, now, job, proven)
  const denial = isTaken ? { name: 'remote_taken' } : writeDenials(asked, tx, job, 'adopt')[0]
  const by = { principal: job.owner, root: job.root, subject: job.job_id }
  tx.mark()
  if (denial !== undefined) {
    appendAudit(tx, now, {
      what: 'codehost.incomplete', ...by,
      facts: { reason: denial.name, readback: first.readback_id },
    })
    // What was proved stays proved: that its task cannot take it over changes nothing of it.
    if (seen.state === 'succeeded') return seen
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
