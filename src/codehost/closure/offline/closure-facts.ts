/** What must hold of the receipt of a closure, in this order; the seal comes before all of them. */
import { canonicalJson } from '../../../base/canonical.js'
import { readArtifact } from '../../../governance/artifacts.js'
import { historyHead, historyLines } from '../../../state/history/read.js'
import { rowsUnder } from '../../../state/indexes.js'
import type { HistorySpec } from '../../../state/types.js'
import { closureLabel } from '../../constants.js'
import { effectHistory, jobHistories } from '../../jobs/histories.js'
import {
  receiptCollection, receiptsByJob, type ReadReceipt, type ReceiptRow,
} from '../../jobs/receipt.js'
import { bindingsOf, lastingOfJob, type BindingName } from '../bindings.js'
import type { ClosureReceipt } from '../../jobs/closed/receipt-shape.js'
import type { Closure } from '../../jobs/closed/rows.js'
import { closureFaults } from '../verify.js'
import {
  areKept, areOfJob, areOfPlan, areSealed, namedJournals, receiptsIn, type Rows,
} from './readbacks.js'

/** A receipt with the rows that it tells of. */
interface ClosureCase extends Rows {
  readonly receipt: ClosureReceipt
  readonly closure: Closure
}

/** One thing that must hold. What it throws as a refusal counts as not holding. */
export interface OfflineFact<Case> {
  readonly name: string
  readonly holds: (of: Case) => boolean
}

/** Readbacks that have a row of their own, of the journals that a closure names. */
const rowsOf = ({ view, job, receipt: { evidence } }: ClosureCase): readonly ReceiptRow[] =>
  rowsUnder(view, receiptCollection, receiptsByJob, { under: [job.job_id] })
    .map(({ doc }) => doc).filter(({ journal }) => evidence.journals.includes(journal.sha256))

/** All readbacks of the journals that a closure names, in their order. */
export const readbacksOf = (of: ClosureCase): readonly ReadReceipt[] => {
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
export const areChained = ({ view, job }: Rows): boolean =>
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

/** The list. */
export const closureFacts = [
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
