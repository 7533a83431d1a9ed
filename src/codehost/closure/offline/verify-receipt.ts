/**
 * Verifying a kept receipt with the key, the rows and the sealed content of this store, and with
 * nothing else: no session, no lock, no contact, and nothing is written. It proves what this store
 * recorded, and that nobody altered it; it proves nothing of the host.
 */
import { canonicalJson, digestOf } from '../../../base/canonical.js'
import { fail } from '../../../base/errors.js'
import { readArtifact } from '../../../governance/artifacts.js'
import type { Gov } from '../../../governance/context.js'
import { historyHead, historyLines } from '../../../state/history/read-history.js'
import { rowsUnder } from '../../../state/indexes.js'
import type { HistorySpec, View } from '../../../state/types.js'
import { closureLabel } from '../../constants.js'
import type { ClosureReceipt } from '../../jobs/closed/receipt-shape.js'
import { closureCollection, type Closure } from '../../jobs/closed/closed-job-rows.js'
import { effectHistory, jobHistories } from '../../jobs/histories.js'
import {
  isSealed, receiptCollection, receiptsByJob, type ReadReceipt, type ReceiptRow,
} from '../../jobs/receipt.js'
import { jobCollection, type Job } from '../../jobs/job-rows.js'
import { bindingsOf, lastingOfJob, type BindingName } from '../bindings.js'
import { isOwnReceipt } from '../receipt.js'
import { closureFaults } from '../verify-closures.js'
import { givenReceipt } from './given.js'
import {
  areKept, areOfJob, areOfPlan, areSealed, holds, namedJournals, receiptsIn, type Rows,
} from './readbacks.js'

/** A receipt with the rows that it tells of. */
interface ClosureCase extends Rows {
  readonly receipt: ClosureReceipt
  readonly closure: Closure
}

/** One thing that must hold. What it throws as a refusal counts as not holding. */
interface OfflineFact<Case> {
  readonly name: string
  readonly holds: (of: Case) => boolean
}

/** Readbacks that have a row of their own, of the journals that a closure names. */
const rowsOf = ({ view, job, receipt: { evidence } }: ClosureCase): readonly ReceiptRow[] =>
  rowsUnder(view, receiptCollection, receiptsByJob, { under: [job.job_id] })
    .map(({ doc }) => doc).filter(({ journal }) => evidence.journals.includes(journal.sha256))

/** All readbacks of the journals that a closure names, in their order. */
const readbacksOf = (of: ClosureCase): readonly ReadReceipt[] => {
  const named = namedJournals(of)
  return of.receipt.evidence.journals.flatMap((sha256) => receiptsIn(of, named.get(sha256) ?? ''))
}

type Account = Readonly<Record<string, unknown>> & {
  readonly bindings: Readonly<Record<BindingName, string>>
}

const accountOf = ({ gov, view, closure }: ClosureCase): Account =>
  JSON.parse(readArtifact(gov, view, closure.artifact.artifact_id, closureLabel)
    .toString('utf8')) as Account

/** What the account must say, as the receipt says it. */
const toldOf = ({ receipt, closure }: ClosureCase): Account => {
  const { evidence, effects } = receipt
  return {
    recovery_contract: receipt.recovery_contract, closure_id: receipt.closure_id,
    closed_at: receipt.closed_at, job_id: receipt.job.id, root: receipt.root,
    principal: receipt.principal, kind: receipt.job.kind, request: closure.request,
    request_sha256: receipt.request.sha256, producer: receipt.producer,
    journals: evidence.journals,
    counts: {
      effects: effects.planned, fresh: evidence.fresh, earlier: evidence.earlier,
      gets: evidence.gets, raw_bytes: evidence.raw_bytes,
    },
  } as unknown as Account
}

const isAsTold = (of: ClosureCase): boolean => {
  const account = accountOf(of)
  return of.closure.artifact.stored_sha256 === of.receipt.evidence.artifact_sha256
    && Object.entries(toldOf(of)).every(([name, value]) =>
      canonicalJson(account[name] ?? null) === canonicalJson(value ?? null))
}

/** Values that the receipt tells itself, as the account bound them. */
const boundOf = ({ receipt: { principal, root, job, connection } }: ClosureCase) => ({
  job_owner: principal, job_root: root, job_kind: [job.kind, job.capability],
  job_state: job.state, job_revision: job.revision_before, job_attempt: job.attempt,
  job_closure: null, connection_id: connection.id,
  connection_repository: [connection.repository, connection.repository_id],
  connection_revision: connection.revision, connection_mode: connection.mode,
  connection_job: job.id, connection_fence: connection.fence,
} satisfies Partial<Record<BindingName, unknown>>)

const areBound = (of: ClosureCase): boolean => {
  const { bindings } = accountOf(of)
  const now = bindingsOf(of.view, of.job.job_id)
  return lastingOfJob.every((name) => bindings[name] === now[name])
    && Object.entries(boundOf(of)).every(([name, value]) =>
      bindings[name as BindingName] === JSON.stringify(value))
}

/** The ledger is the one that every effect was evidenced of. */
const isLedgerOf = (of: ClosureCase): boolean => {
  const { entries, digest } = historyHead(of.view, effectHistory, of.job.job_id)
  return accountOf(of).bindings.ledger === JSON.stringify([entries, digest])
}

/** Reads every line of every history of a job, each following from the one before. */
const areChained = ({ view, job }: Rows): boolean =>
  Object.values(jobHistories).every((spec) => {
    const lines = historyLines(view, spec as HistorySpec<unknown>, job.job_id)
    while (lines.next().done !== true) continue
    return true
  })

const hasAll = (of: ClosureCase): boolean => {
  const { evidence: { journals, fresh, earlier }, effects } = of.receipt
  const named = namedJournals(of)
  return journals.every((one) => named.has(one)) && effects.observed === fresh + earlier
    && readbacksOf(of).length >= effects.observed && effects.observed >= effects.contacted
}

const closureFacts = [
  {
    name: 'stored', holds: ({ receipt, closure }) =>
      canonicalJson(closure.receipt) === canonicalJson(receipt),
  },
  {
    name: 'request_job_and_checkpoint', holds: ({ view, receipt, closure }) =>
      closureFaults(view, receipt.closure_id, closure).length === 0,
  },
  { name: 'account', holds: isAsTold },
  { name: 'bindings', holds: areBound },
  { name: 'histories', holds: areChained },
  { name: 'ledger', holds: isLedgerOf },
  { name: 'journals', holds: hasAll },
  { name: 'readbacks_sealed', holds: (of) => areSealed(of, rowsOf(of)) },
  { name: 'readbacks_kept', holds: (of) => areKept(of, rowsOf(of)) },
  { name: 'readbacks_bound', holds: (of) => areOfJob(of, readbacksOf(of)) },
  { name: 'plan_and_object_ids', holds: (of) => areOfPlan(of, readbacksOf(of)) },
] as const satisfies readonly OfflineFact<ClosureCase>[]

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

interface ReadCase extends Rows { readonly row: ReceiptRow }

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
