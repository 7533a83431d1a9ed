/**
 * Verifying a kept receipt with the key, the rows and the sealed content of this store, and with
 * nothing else: no session, no lock, no contact, and nothing is written. It proves what this store
 * recorded, and that nobody altered it; it proves nothing of the host.
 */
import { fail } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import { jobCollection, type Job } from '../../jobs/rows.js'
import {
  isSealed, receiptCollection, type ReadReceipt, type ReceiptRow,
} from '../../jobs/receipt.js'
import { digestOf } from '../../../base/canonical.js'
import { isOwnReceipt } from '../receipt.js'
import type { ClosureReceipt } from '../../jobs/closed/receipt-shape.js'
import { closureCollection, type Closure } from '../../jobs/closed/rows.js'
import { areChained, closureFacts, readbacksOf, type OfflineFact } from './closure-facts.js'
import { givenReceipt } from './given.js'
import { areKept, areOfJob, areOfPlan, holds, type Rows } from './readbacks.js'

/** A receipt that was found to be true to the store. */
export interface VerifiedReceipt {
  readonly kind: 'closure' | 'read'
  readonly id: string
  readonly at: string
  readonly job: Job
  /** Null for one of a read. */
  readonly closure: Closure | null
  readonly readbacks: readonly ReadReceipt[]
  /** Names of what was looked at, the seal first. */
  readonly checks: readonly string[]
}

const altered = () => fail.rejected(
  'receipt_altered', 'The seal of this receipt is not the one that this store’s key makes.', {
    next: 'It was altered, or another store made it: verify it with --state-dir of that one.',
  },
)

const unproved = (jobId: string, failed: readonly string[]) => fail.blocked(
  'receipt_unproved', 'The receipt is sealed by this store, but the store no longer bears it out.',
  {
    ...(failed[0] === undefined ? {} : { reason: failed[0] }),
    next: 'Run `sallyport state check`; an old copy of a state lacks what came after it.',
    details: { job_id: jobId, failed: failed.join(' ') },
  },
)

const requireFacts = <C extends Rows>(
  facts: readonly OfflineFact<C>[], of: C,
): readonly string[] => {
  const failed = facts.filter((fact) => !holds(() => fact.holds(of))).map(({ name }) => name)
  if (failed.length > 0) throw unproved(of.job.job_id, failed)
  return ['seal', ...facts.map(({ name }) => name)]
}

const verifyClosure = (
  gov: Pick<Gov, 'store'>, view: View, receipt: ClosureReceipt,
): VerifiedReceipt => {
  if (!isOwnReceipt(gov.store, receipt)) throw altered()
  const closure = view.get(closureCollection, receipt.closure_id)
  const job = view.get(jobCollection, receipt.job.id)
  if (closure === undefined || job === undefined) throw unproved(receipt.job.id, ['stored'])
  const of = { gov, view, job, receipt, closure }
  const checks = requireFacts(closureFacts, of)
  return {
    kind: 'closure', id: receipt.closure_id, at: receipt.closed_at, job, closure, checks,
    readbacks: readbacksOf(of),
  }
}

interface ReadCase extends Rows {
  readonly row: ReceiptRow
}

/** The list for a readback alone. */
const readFacts = [
  {
    name: 'stored', holds: ({ view, row }) =>
      digestOf(view.get(receiptCollection, row.readback_id) ?? null) === digestOf(row),
  },
  { name: 'histories', holds: areChained },
  { name: 'readbacks_kept', holds: (of) => areKept(of, [of.row]) },
  { name: 'readbacks_bound', holds: (of) => areOfJob(of, [of.row.receipt]) },
  { name: 'plan_and_object_ids', holds: (of) => areOfPlan(of, [of.row.receipt]) },
] as const satisfies readonly OfflineFact<ReadCase>[]

const verifyRead = (gov: Pick<Gov, 'store'>, view: View, row: ReceiptRow): VerifiedReceipt => {
  if (!isSealed(gov.store, row)) throw altered()
  const job = view.get(jobCollection, row.job_id)
  if (job === undefined) throw unproved(row.job_id, ['stored'])
  const checks = requireFacts(readFacts, { gov, view, job, row })
  return {
    kind: 'read', id: row.readback_id, at: row.receipt.read_at, job, closure: null, checks,
    readbacks: [row.receipt],
  }
}

/**
 * Verifies the bytes of a kept receipt. Throws `rejected` (`receipt_invalid`, `receipt_altered`),
 * `blocked` (`receipt_unproved` with the first fact that does not hold, `key_missing`).
 */
export const verifyReceipt = (gov: Pick<Gov, 'store'>, bytes: Uint8Array): VerifiedReceipt => {
  const given = givenReceipt(bytes)
  const view = gov.store.read()
  return given.kind === 'closure'
    ? verifyClosure(gov, view, given.receipt) : verifyRead(gov, view, given.row)
}
