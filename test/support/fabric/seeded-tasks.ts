/** Ended tasks as rows, many at once: what an ask that failed before contact leaves, and a file. */
import { randomUUID } from 'node:crypto'
import { sha256Hex } from '../../../src/base/canonical.js'
import { newId } from '../../../src/base/ids.js'
import { alphaArtifactLabels } from '../../../src/alpha/constants.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import type { ArtifactRef, Store, Tx } from '../../../src/state/types.js'

/** What a test follows of one. */
export interface SeededTask {
  readonly taskId: string
  readonly jobId: string
  readonly key: string
  readonly artifactId: string
  readonly stored: string
  readonly decisionId: string
}

/** Whose they are, and how they are made. */
export interface Seeding {
  readonly owner: string
  readonly root: string
  readonly goalId: string
  /** ISO: when they last changed. */
  readonly at: string
  /** Characters of the request in each decision. */
  readonly padding: number
}

const taskOf = (
  { owner, root, goalId, at }: Seeding, ids: SeededTask, operation: string,
): Task => ({
  task_id: ids.taskId, revision: 3, kind: 'inference.alpha-text.v1', owner, place: null,
  goal_id: goalId, goal_revision: 1, original_root: root, current_root: root,
  input_artifact_id: ids.artifactId, idempotency_key: ids.key,
  request_digest: sha256Hex(ids.key), job_id: ids.jobId, operation_id: operation,
  state: 'failed', blocked: null, reason: 'interrupted_before_contact', cancel_requested_at: null,
  attempt: 1, lease: null, lease_fence: 0,
  provenance: { face: 'cli', principal: owner, root },
  purpose: { consent_id: 'con_x', purpose: 'alpha.text', revision: 1, root, expires_at: at },
  deadline_at: at, budget_left_ms: 1000, review: 'none', done_at: null, result_artifact_id: null,
  recovered: [], created_at: at, updated_at: at,
})

const putOne = (tx: Tx, seeding: Seeding, ref: ArtifactRef): SeededTask => {
  const { owner, at, padding } = seeding
  const ids: SeededTask = {
    taskId: newId('task'), jobId: newId('job'), key: randomUUID(), artifactId: newId('art'),
    stored: ref.stored_sha256, decisionId: newId('dec'),
  }
  const operation = newId('op')
  const task = taskOf(seeding, ids, operation)
  tx.put(collections.closedTasks, ids.taskId, task)
  tx.put(collections.jobs, ids.jobId, {
    job_id: ids.jobId, task_id: ids.taskId, attempt: 1, attempt_id: newId('att'),
    request_id: newId('req'), operation_id: operation, receipt: null, progress: {},
    created_at: at, updated_at: at,
  })
  tx.put(collections.artifacts, ids.artifactId, {
    artifact_id: ids.artifactId, label: alphaArtifactLabels.input, ref: { ...ref }, owner,
    task_id: ids.taskId, adopted: true, created_at: at,
  })
  tx.put(collections.decisions, ids.decisionId, {
    decision_id: ids.decisionId, operation_id: operation, outcome: 'deny', reasons: ['test'],
    request: { padding: 'x'.repeat(padding) }, request_digest: sha256Hex('x'), made_at: at,
  })
  tx.put(collections.idempotency, ids.key, {
    key: ids.key, kind: task.kind, task_id: ids.taskId, request_digest: task.request_digest,
  })
  return ids
}

/** Writes tasks in one record, each with a sealed file of its own; acknowledged when it answers. */
export const seedTasks = async (
  store: Store, seeding: Seeding, count: number,
): Promise<readonly SeededTask[]> => {
  const refs = Array.from({ length: count }, (_, n) =>
    store.artifacts.write(alphaArtifactLabels.input, Buffer.from(`question ${n}`)))
  return store.transact('seed', (tx) => refs.map((ref) => putOne(tx, seeding, ref)))
}
