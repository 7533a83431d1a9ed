import type { View } from '../../state/types.js'
import type { Session } from '../session/types.js'
import type { Job, Task, TaskState } from '../rows.js'
import { taskAccess, type TaskAccess } from './read.js'

/** What the world sees of a task: content-safe, the same in every face and verb. */
export interface TaskFacts {
  readonly id: string
  readonly kind: string
  readonly state: TaskState
  readonly blocked: { readonly kind: string; readonly reason: string } | null
  readonly reason: string | null
  readonly review: Task['review']
  readonly done: boolean
  readonly done_at: string | null
  readonly goal: { readonly id: string; readonly revision: number }
  readonly owner: string
  readonly original_root: string
  readonly current_root: string
  /** Whether this session may read the output, and if not, why. */
  readonly access: TaskAccess
  readonly job: string
  readonly attempt: string | null
  readonly request: string | null
  readonly operation: string
  readonly input_artifact_id: string
  readonly result_artifact_id: string | null
  readonly idempotency_key: string
  readonly cancel_requested_at: string | null
  readonly provenance: Task['provenance']
  readonly purpose: Task['purpose']
  readonly deadline_at: string
  readonly recovered: Task['recovered']
  readonly created_at: string
  readonly updated_at: string
}

/** The facts of one of the operator's own tasks; `job` adds its attempt and request. */
export const taskFacts = (view: View, session: Session, task: Task, job?: Job): TaskFacts => ({
  id: task.task_id,
  kind: task.kind,
  state: task.state,
  blocked: task.blocked,
  reason: task.reason,
  review: task.review,
  done: task.done_at !== null,
  done_at: task.done_at,
  goal: { id: task.goal_id, revision: task.goal_revision },
  owner: session.principal.name,
  original_root: task.original_root,
  current_root: task.current_root,
  access: taskAccess(view, session, task),
  job: task.job_id,
  attempt: job?.attempt_id ?? null,
  request: job?.request_id ?? null,
  operation: task.operation_id,
  input_artifact_id: task.input_artifact_id,
  result_artifact_id: task.result_artifact_id,
  idempotency_key: task.idempotency_key,
  cancel_requested_at: task.cancel_requested_at,
  provenance: task.provenance,
  purpose: task.purpose,
  deadline_at: task.deadline_at,
  recovered: task.recovered,
  created_at: task.created_at,
  updated_at: task.updated_at,
})
