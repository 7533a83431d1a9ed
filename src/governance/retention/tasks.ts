/**
 * What a person may have removed of ended tasks, and what is left of each: its idempotency key with
 * the digest of its content, for ever, and a count by state. Ledger rows, reservations, billing ids
 * and the audit are never touched.
 */
import { msFromIso } from '../../base/clock.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import {
  collections, decisionsByOperation, type Reservation, type Task, type TaskPrune, type UsedKey,
} from '../rows.js'

/** What decides whether a task may go. */
export interface EndedTask {
  readonly task: Task
  /** Its money; undefined where it never held any. */
  readonly money: Reservation | undefined
  /** The row of its idempotency key; undefined where damage took it. */
  readonly key: UsedKey | undefined
}

/** What may go: tasks of these kinds that have not changed since `before` (ISO). */
export interface TaskAge {
  readonly kinds: readonly string[]
  readonly before: string
}

const endedStates: readonly Task['state'][] = ['succeeded', 'failed', 'cancelled']

/** A charge that is known and that nobody has to look at any more, or none. */
const isChargeKnown = (money: Reservation | undefined): boolean => {
  if (money === undefined || money.state === 'released') return true
  return money.state === 'settled' && money.overrun !== 'review_required'
}

/** Whether a task may go: ended, its charge known, no review open, and old enough. Pure. */
export const mayTaskGo = ({ task, money, key }: EndedTask, { kinds, before }: TaskAge): boolean =>
  kinds.includes(task.kind) && endedStates.includes(task.state) && task.review !== 'pending'
  && isChargeKnown(money) && (key === undefined || key.task_id === task.task_id)
  && msFromIso(task.updated_at) < msFromIso(before)

export const rootsOfTask = (task: Task): readonly string[] => [
  task.original_root, task.current_root, task.purpose.root,
  ...(task.provenance.root === null ? [] : [task.provenance.root]),
  ...task.recovered.flatMap(({ root, from_root: from }) => [root, from]),
]

/** A registered artifact and the name of its sealed file. */
export interface DroppedArtifact {
  readonly artifactId: string
  readonly name: string
  readonly bytes: number
}

/** Artifacts that a task registered: its input, its result, and an answer that waited for it. */
export const artifactsOfTask = (view: View, task: Task): readonly DroppedArtifact[] => {
  const job = view.get(collections.jobs, task.job_id)
  const held = job?.progress['held_artifact_id']
  const ids = new Set([
    task.input_artifact_id,
    ...(task.result_artifact_id === null ? [] : [task.result_artifact_id]),
    ...(typeof held === 'string' ? [held] : []),
  ])
  return [...ids].flatMap((id) => {
    const row = view.get(collections.artifacts, id)
    // An altered row must not take another task's content along.
    return row?.task_id === task.task_id
      ? [{ artifactId: id, name: row.ref.stored_sha256, bytes: row.ref.bytes }] : []
  })
}

/**
 * Removes the rows of a task and marks its key; gives its sealed files, which go once this record
 * is durable. `mayTaskGo` must have said so in this transaction.
 */
export const dropTask = (tx: Tx, now: string, task: Task): readonly DroppedArtifact[] => {
  const { task_id: id, job_id: jobId, operation_id: operation, idempotency_key: key } = task
  const job = tx.get(collections.jobs, jobId)
  const artifacts = artifactsOfTask(tx, task)
  // Also where damage took its row: the key stays spent, whatever else goes.
  tx.put(collections.idempotency, key, {
    key, kind: task.kind, task_id: id, request_digest: task.request_digest,
    pruned: { at: now, owner: task.owner },
  })
  for (const decision of rowsUnder(tx, collections.decisions, decisionsByOperation, {
    under: [operation],
  })) tx.remove(collections.decisions, decision.id)
  for (const { artifactId } of artifacts) tx.remove(collections.artifacts, artifactId)
  if (job?.task_id === id) tx.remove(collections.jobs, jobId)
  tx.remove(collections.closedTasks, id)
  return artifacts
}

/** Counts tasks that went, by the state that they had ended in. Pure. */
export const countPruned = (before: TaskPrune, tasks: readonly Task[], now: string): TaskPrune => {
  const of = (state: Task['state']): number => tasks.filter((one) => one.state === state).length
  return {
    ...before,
    last_at: now,
    succeeded: before.succeeded + of('succeeded'),
    failed: before.failed + of('failed'),
    cancelled: before.cancelled + of('cancelled'),
  }
}
