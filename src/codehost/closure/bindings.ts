/**
 * Everything that a closure rests on, as named values out of rows of one view: read when it begins,
 * at each boundary of its reads, and once more in the record that closes. Any that differs is
 * another closure. Pure (C-216, C-243, C-250 to C-258).
 */
import { digestOf } from '../../base/canonical.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { findTask } from '../../governance/board/place.js'
import {
  connectionCollection, type Connection,
} from '../../governance/connections/connection-rows.js'
import type { Task } from '../../governance/rows.js'
import { vaultDigest } from '../../governance/vault.js'
import { historyHead } from '../../state/history/read-history.js'
import { ofRows } from '../../state/row-memo.js'
import type { View } from '../../state/types.js'
import { getJob } from '../jobs/change.js'
import { effectHistory } from '../jobs/histories.js'
import type { Job } from '../jobs/job-rows.js'
import { closedBy } from '../jobs/closed/fence.js'

interface Rows {
  readonly view: View
  readonly job: Job
  readonly connection: Connection | undefined
  readonly task: Task | undefined
}

/** Whether a process may be working on a task, or is about to. */
export const isLeased = (task: Task | undefined): boolean =>
  task !== undefined && (task.lease !== null || ['queued', 'running'].includes(task.state))

const connected = (read: (connection: Connection) => unknown) => ({ connection }: Rows) =>
  (connection === undefined ? null : read(connection))

const ledgerOf = ({ view, job }: Rows): unknown => {
  const { entries, digest } = historyHead(view, effectHistory, job.job_id)
  return [entries, digest]
}

const taskOf = ({ task }: Rows): unknown =>
  (task === undefined ? null : [task.task_id, task.state, task.attempt, task.lease_fence])

const values = {
  job_owner: ({ job }: Rows) => job.owner,
  job_root: ({ job }: Rows) => job.root,
  job_kind: ({ job }: Rows) => [job.native_kind, job.capability],
  job_state: ({ job }: Rows) => job.state,
  job_revision: ({ job }: Rows) => job.revision,
  job_attempt: ({ job }: Rows) => job.attempt,
  job_authority: ({ job }: Rows) => job.authority_sha256,
  job_input: ({ job }: Rows) => job.input_sha256,
  job_run: ({ job }: Rows) => job.run_sha256,
  job_plan: ({ job }: Rows) => digestOf(job.plan),
  job_producer: ({ job }: Rows) => digestOf(job.approval?.producer ?? null),
  job_write_binding: ({ job }: Rows) => digestOf(job.consent),
  job_vault: ({ job }: Rows) => digestOf(job.vault),
  job_reservation: ({ job }: Rows) => [job.reserved, job.fence],
  job_lease: ({ task }: Rows) => isLeased(task),
  job_task: taskOf,
  job_closure: ({ view, job }: Rows) => closedBy(view, job),
  ledger: ledgerOf,
  connection_id: connected(({ connection_id: id }) => id),
  connection_owner: connected(({ owner }) => owner),
  connection_repository: connected(({ repository, repository_id: id }) => [repository, id]),
  connection_revision: connected(({ revision }) => revision),
  connection_mode: connected(({ mode }) => mode),
  connection_job: connected(({ active_job_id: id }) => id),
  connection_fence: connected(({ active_fence: fence }) => fence),
  connection_vault: (rows: Rows) => connected(({ credential_ref: ref }) =>
    vaultDigest(rows.view, ref))(rows),
} as const satisfies Readonly<Record<string, (rows: Rows) => unknown>>

/** Names of what is bound, in the order in which a difference is told. */
export type BindingName = keyof typeof values
/** Their values, as text. */
export type Bindings = Readonly<Record<BindingName, string>>

const names = Object.keys(values) as readonly BindingName[]

/** What a closure of a job rests on, as of one view. Throws `not_found` for a job that is gone. */
export const bindingsOf = ofRows((view, jobId): Bindings => {
  const job = getJob(view, jobId)
  const rows: Rows = {
    view, job, connection: view.get(connectionCollection, job.connection_id),
    task: job.task_id === null ? undefined : findTask(view, job.task_id),
  }
  return Object.fromEntries(
    names.map((name) => [name, JSON.stringify(values[name](rows))])) as unknown as Bindings
})

/** What nothing changes of a job after its closure. */
export const lastingOfJob = [
  'job_owner', 'job_root', 'job_kind', 'job_attempt', 'job_authority', 'job_input', 'job_run',
  'job_plan', 'job_write_binding', 'job_vault',
] as const satisfies readonly BindingName[]

/** What a look after the closure rests on: a successor's reservation is none of it (C-279). */
const lasting = [
  ...lastingOfJob, 'job_closure', 'ledger', 'connection_id', 'connection_owner',
  'connection_repository', 'connection_revision', 'connection_vault',
] as const satisfies readonly BindingName[]

/** What a look after the closure of a job rests on, as of one view (C-171 to C-173). */
export const observationBindings = (view: View, jobId: string): Partial<Bindings> => {
  const all = bindingsOf(view, jobId)
  return Object.fromEntries(lasting.map((name) => [name, all[name]]))
}

/** The first binding that differs; null where all are the same. */
export const changedBinding = (
  before: Partial<Bindings>, now: Partial<Bindings>,
): BindingName | null => names.find((name) => before[name] !== now[name]) ?? null

/** The refusal of a closure whose binding changed while it was under way. */
const bindingChanged = (name: BindingName, jobId: string): SallyportError => fail.conflict(
  'closure_binding_changed', 'What this closure rests on changed while it was under way.', {
    reason: name, details: { job_id: jobId },
    next: `Nothing was closed. Look at it, and decide again: \`sallyport codehost jobs ${jobId}\`.`,
  },
)

/** Throws `conflict` `closure_binding_changed` unless everything is as it was. */
export const requireBindings = (view: View, jobId: string, before: Bindings): void => {
  const changed = changedBinding(before, bindingsOf(view, jobId))
  if (changed !== null) throw bindingChanged(changed, jobId)
}
