/**
 * Adoption: the board takes a success over that was proved by a later readback. The receipt that
 * counts is the one in the rows, read in the very record that moves the task; nothing is contacted
 * (C-280 to C-287).
 */
import { digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/visible-tasks.js'
import {
  connectionCollection, type Connection,
} from '../../governance/connections/connection-rows.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { always, denied, judge, type Denial, type Fact } from '../../governance/judge/fact.js'
import type { Task } from '../../governance/rows.js'
import { liveSession } from '../../governance/session/live.js'
import type { Store, View } from '../../state/types.js'
import { journalLabel } from '../constants.js'
import { codehostBase } from '../context.js'
import { fenced, requireUnclosed } from './closed/fence.js'
import { writeDenials } from './boundary.js'
import { requireOriginalRoot, requireOwnJob } from './change.js'
import { jobEntries, readHistory } from './histories.js'
import { ledgerOf } from './ledger.js'
import { isSealed, receiptCollection, type ReadReceipt, type ReceiptRow } from './receipt.js'
import type { Job } from './job-rows.js'

interface AdoptCase {
  readonly store: Store
  readonly view: View
  readonly job: Job
  readonly task: Task
  readonly connection: Connection | undefined
  readonly row: ReceiptRow | undefined
}

interface ProvedCase extends AdoptCase {
  readonly row: ReceiptRow
  readonly receipt: ReadReceipt
}

const provedPart = (one: AdoptCase): ProvedCase | null =>
  (one.row === undefined ? null : { ...one, row: one.row, receipt: one.row.receipt })

const fact = <Name extends string>(
  name: Name, holds: (one: ProvedCase) => boolean, kind: 'blocked' | 'conflict' = 'blocked',
) => ({
  name, kind, phases: always,
  holds: (one: AdoptCase) => {
    const part = provedPart(one)
    return part === null || holds(part)
  },
} as const)

const isInHistory = ({ view, job, row, receipt }: ProvedCase): boolean =>
  jobEntries(view, readHistory, job.job_id).some(({ receipts, journals }) =>
    receipts.includes(receipt.readback_sha256)
    && journals.some(({ artifact_id: id, sha256 }) =>
      id === row.journal.artifact_id && sha256 === row.journal.sha256))

const isOfEffect = ({ view, job, receipt: { effect } }: ProvedCase): boolean =>
  ledgerOf(view, job.job_id).effects.some((one) => one.number === effect.number
    && one.standing === 'created' && one.remoteId === effect.remote_id
    && one.bodySha256 === effect.body_sha256)

/** What an adoption rests on besides session, goal and connection. */
const adoptFacts = [
  {
    name: 'job_not_succeeded', kind: 'conflict', phases: always,
    holds: ({ job }) => job.state === 'succeeded',
  },
  {
    name: 'receipt_missing', kind: 'blocked', phases: always,
    holds: ({ row, job }) => row !== undefined && row.readback_id === job.receipt_id,
  },
  fact('receipt_not_sealed', ({ store, row }) => isSealed(store, row)),
  fact('receipt_not_recorded', isInHistory),
  fact('receipt_of_other_job', ({ job, receipt }) => receipt.job_id === job.job_id
    && receipt.principal === job.owner && receipt.root === job.root),
  fact('receipt_overtaken', ({ job, receipt }) =>
    receipt.job_revision + 1 === job.revision && receipt.attempt === job.attempt
    && receipt.count === job.contacted),
  fact('kind_mismatch', ({ job, task, receipt }) => receipt.native_kind === job.native_kind
    && task.kind === job.native_kind && receipt.capability === job.capability),
  fact('fingerprint_mismatch', ({ job, receipt }) =>
    receipt.authority_sha256 === job.authority_sha256 && receipt.run_sha256 === job.run_sha256
    && receipt.input_sha256 === job.input_sha256),
  fact('binding_mismatch', ({ job, receipt }) =>
    digestOf(receipt.write_binding) === digestOf(job.consent)
    && digestOf(receipt.vault) === digestOf(job.vault)
    && receipt.connection_id === job.connection_id && receipt.repository === job.repository
    && receipt.repository_id === job.repository_id),
  fact('effect_mismatch', isOfEffect),
  fact('task_mismatch', ({ job, task }) => task.owner === job.owner
    && task.original_root === job.root && task.current_root === job.root
    && task.job_id === job.job_id && task.goal_id === job.goal_id
    && task.goal_revision === job.goal_revision),
  fact('idempotency_mismatch', ({ job, task }) => task.idempotency_key === job.idempotency_key
    && task.request_digest === job.request_sha256),
  fact('attempt_overtaken', ({ task, receipt }) => receipt.task?.task_id === task.task_id
    && receipt.task.attempt === task.attempt && receipt.task.fence === task.lease_fence),
  fact('readback_stale', ({ connection, receipt }) =>
    connection?.revision === receipt.read_revision, 'conflict'),
] as const satisfies readonly Fact<AdoptCase>[]

const refuse = (view: View, job: Job, denials: readonly Denial[]): never => {
  const revision = view.get(connectionCollection, job.connection_id)?.revision ?? 0
  const stale = denials[0]?.name === 'readback_stale'
  throw denied(denials, {
    code: 'codehost_not_adopted', message: 'What proves this job does not stand for its task.',
    details: { job_id: job.job_id },
    next: stale
      ? `Read it back anew: \`sallyport codehost recover reconcile ${job.job_id} `
        + `--expected-revision ${revision}\`.`
      : `See \`sallyport codehost jobs ${job.job_id}\`.`,
  })
}

/** The sealed journal holds the very receipt of the row; read before the record, without lock. */
const requireJournal = (gov: Gov, view: View, job: Job): void => {
  const row = job.receipt_id === null ? undefined : view.get(receiptCollection, job.receipt_id)
  if (row === undefined) return
  const bytes = readArtifact(gov, view, row.journal.artifact_id, journalLabel)
  const journal = JSON.parse(bytes.toString('utf8')) as { readonly receipts: readonly unknown[] }
  if (journal.receipts.some((one) => digestOf(one) === digestOf(row.receipt))) return
  refuse(view, job, [{ name: 'receipt_not_sealed', kind: 'blocked' }])
}

const taskOf = (view: View, job: Job): Task => {
  if (job.task_id !== null) return getTask(view, job.task_id)
  throw fail.conflict('job_state', 'This job never ran: there is no task to adopt for.', {
    next: `Look at it: \`sallyport codehost jobs ${job.job_id}\`.`,
  })
}

/**
 * Adopts the success of a job for its task. Nothing to do where the task has it already. Throws
 * `unauthorized` (`root_replaced`, or what session and goal lack), `conflict` and `blocked`
 * `codehost_not_adopted` with what does not stand as reason.
 */
export const adoptJob = (gov: Gov, session: Session, jobId: string): Promise<Job> =>
  fenced(gov, session, () => adoptUnfenced(gov, session, jobId))

const adoptUnfenced = async (gov: Gov, session: Session, jobId: string): Promise<Job> => {
  const before = gov.store.read()
  const seen = requireOwnJob(before, session, jobId)
  requireUnclosed(before, seen, 'adopt')
  requireOriginalRoot(seen, session)
  const { revision } = taskOf(before, seen)
  requireJournal(gov, before, seen)
  return gov.store.transact('codehost adopt', (tx) => {
    const current = liveSession(tx, gov, session.root.root_id)
    const job = requireOwnJob(tx, current, jobId)
    requireUnclosed(tx, job, 'adopt')
    requireOriginalRoot(job, current)
    const task = taskOf(tx, job)
    if (task.state === 'succeeded' && job.state === 'succeeded') return job
    const denials = [
      ...writeDenials({ gov, sealedHost: codehostBase(gov) }, tx, job, 'adopt'),
      ...judge(adoptFacts, {
        store: gov.store, view: tx, job, task,
        connection: tx.get(connectionCollection, job.connection_id),
        row: job.receipt_id === null ? undefined : tx.get(receiptCollection, job.receipt_id),
      }, 'adopt'),
    ]
    if (denials.length > 0) refuse(tx, job, denials)
    const now = nowIso(gov)
    tx.mark()
    moveTask(tx, now, task.task_id, 'succeeded', { revision })
    appendAudit(tx, now, {
      what: 'codehost.adopted', principal: job.owner, root: job.root, subject: job.job_id,
      facts: { task: task.task_id, readback: job.receipt_id },
    })
    return job
  })
}
