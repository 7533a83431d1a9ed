/** A task of the board as a document: content-safe, in the specification's field names. */
import * as v from 'valibot'
import { nullableText } from '../../base/schema.js'
import type { View } from '../../state/types.js'
import { findReservation } from '../ledger/find-reservation.js'
import { collections, taskStates, type Task } from '../rows.js'
import type { Session } from '../context.js'
import { requestsShape } from '../stops/requests.js'
import { taskAccess } from './visible-tasks.js'

/** Shape of a task; fields are only ever added. */
export const taskShape = v.strictObject({
  id: v.string(),
  /** Counts every change of the task, from 1. */
  revision: v.number(),
  kind: v.string(),
  /** What its owner's one place is for besides the kind; null: the kind has one place. */
  place: nullableText,
  state: v.picklist(taskStates),
  blocked: v.nullable(v.strictObject({ kind: v.string(), reason: v.string() })),
  reason: nullableText,
  owner: v.string(),
  goal_id: v.string(),
  goal_revision: v.number(),
  original_root: v.string(),
  current_root: v.string(),
  input_artifact_id: v.string(),
  result_artifact_id: nullableText,
  idempotency_key: v.string(),
  job_id: v.string(),
  /** Which try at the work this is, from 1. */
  attempt: v.number(),
  attempt_id: nullableText,
  request_id: nullableText,
  operation_id: v.string(),
  purpose: v.strictObject({
    consent_id: v.string(), purpose: v.string(), revision: v.number(), root: v.string(),
    expires_at: v.string(),
  }),
  provenance: v.strictObject({ face: v.string(), principal: v.string(), root: nullableText }),
  /** Fence of the last lease that was granted; 0 before the first. */
  lease_fence: v.number(),
  deadline_at: v.string(),
  cancel_requested_at: nullableText,
  review: v.picklist(['none', 'pending', 'approved', 'rejected']),
  done: v.boolean(),
  done_at: nullableText,
  /** Where the operation's money stands; null when nothing was reserved. */
  cost: v.nullable(v.strictObject({
    state: v.string(),
    bound_microusd: v.number(),
    charged_microusd: v.nullable(v.number()),
    overrun: v.string(),
  })),
  created_at: v.string(),
  updated_at: v.string(),
  /** After a cancel: what had left before of it. */
  requests: v.optional(requestsShape),
})
export type TaskDocument = v.InferOutput<typeof taskShape>

const costOf = (view: View, task: Task): TaskDocument['cost'] => {
  const reservation = findReservation(view, task.operation_id)
  if (!reservation) return null
  const { state, bound_microusd, charged_microusd, overrun } = reservation
  return { state, bound_microusd, charged_microusd, overrun }
}

/** What an act on a task has just told, besides the task. */
export type ToldOfTask = Pick<TaskDocument, 'requests'>

/** The document of a task out of its rows; no input, no answer. */
export const taskDocument = (view: View, task: Task, told: ToldOfTask = {}): TaskDocument => {
  const job = view.get(collections.jobs, task.job_id)
  return {
    id: task.task_id,
    revision: task.revision,
    kind: task.kind,
    place: task.place,
    state: task.state,
    blocked: task.blocked,
    reason: task.reason,
    owner: task.owner,
    goal_id: task.goal_id,
    goal_revision: task.goal_revision,
    original_root: task.original_root,
    current_root: task.current_root,
    input_artifact_id: task.input_artifact_id,
    result_artifact_id: task.result_artifact_id,
    idempotency_key: task.idempotency_key,
    job_id: task.job_id,
    attempt: task.attempt,
    attempt_id: job?.attempt_id ?? null,
    request_id: job?.request_id ?? null,
    operation_id: task.operation_id,
    purpose: task.purpose,
    provenance: task.provenance,
    lease_fence: task.lease_fence,
    deadline_at: task.deadline_at,
    cancel_requested_at: task.cancel_requested_at,
    review: task.review,
    done: task.done_at !== null,
    done_at: task.done_at,
    cost: costOf(view, task),
    created_at: task.created_at,
    updated_at: task.updated_at,
    ...told,
  }
}

/** Shape of a task on its owner's board. */
export const boardTaskShape = v.strictObject({
  ...taskShape.entries,
  /** Whether this session may read the output, and if not, why. */
  access: v.picklist(['current', 'root_replaced', 'goal_changed']),
  recovered: v.array(v.strictObject({ at: v.string(), root: v.string(), from_root: v.string() })),
})
export type BoardTaskDocument = v.InferOutput<typeof boardTaskShape>

/** One of the operator's own tasks, with the rows it refers to and the session that looks. */
export interface SeenTask {
  readonly view: View
  readonly session: Session
  readonly task: Task
  readonly told?: ToldOfTask
}

/** The document of one of the operator's own tasks. */
export const boardTaskDocument = ({ view, session, task, told }: SeenTask): BoardTaskDocument => ({
  ...taskDocument(view, task, told),
  access: taskAccess(view, session, task),
  recovered: task.recovered.map((entry) => ({ ...entry })),
})
