/** A task as scripts see it: content-safe, the specification's field names. */
import * as v from 'valibot'
import { findReservation } from '../governance/ledger/read.js'
import { collections, taskStates, type Task } from '../governance/rows.js'
import type { View } from '../state/types.js'

const nullableText = v.nullable(v.string())

/** Shape of a task in JSON output; fields are only ever added. */
export const taskFactsShape = v.strictObject({
  id: v.string(),
  kind: v.string(),
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
  attempt: v.literal(1),
  attempt_id: nullableText,
  request_id: nullableText,
  operation_id: v.string(),
  purpose: v.strictObject({
    consent_id: v.string(), purpose: v.string(), revision: v.number(), root: v.string(),
    expires_at: v.string(),
  }),
  provenance: v.strictObject({ face: v.string(), principal: v.string(), root: nullableText }),
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
})
/** A task in JSON output. */
export type TaskFacts = v.InferOutput<typeof taskFactsShape>

const costOf = (view: View, task: Task): TaskFacts['cost'] => {
  const reservation = findReservation(view, task.operation_id)
  if (!reservation) return null
  const { state, bound_microusd, charged_microusd, overrun } = reservation
  return { state, bound_microusd, charged_microusd, overrun }
}

/** The facts of one task out of its rows; no input, no answer. */
export const taskFacts = (view: View, task: Task): TaskFacts => {
  const job = view.get(collections.jobs, task.job_id)
  return {
    id: task.task_id,
    kind: task.kind,
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
    attempt: 1,
    attempt_id: job?.attempt_id ?? null,
    request_id: job?.request_id ?? null,
    operation_id: task.operation_id,
    purpose: task.purpose,
    provenance: task.provenance,
    deadline_at: task.deadline_at,
    cancel_requested_at: task.cancel_requested_at,
    review: task.review,
    done: task.done_at !== null,
    done_at: task.done_at,
    cost: costOf(view, task),
    created_at: task.created_at,
    updated_at: task.updated_at,
  }
}

const costText = (
  { state, bound_microusd: bound, charged_microusd: charged }: NonNullable<TaskFacts['cost']>,
): string => {
  if (state === 'released') return 'released, nothing was charged'
  if (charged === null) return `${state}, at most ${bound} micro-USD held`
  return `${state}, ${charged} of at most ${bound} micro-USD`
}

/** The same as lines of text. */
export const taskText = (task: TaskFacts): string => {
  const line = (name: string, value: string): string => `${name.padEnd(14)}${value}\n`
  const cost = task.cost
  return [
    line('task', task.id),
    line('kind', task.kind),
    line('state', task.state + (task.done ? ' (done)' : '')),
    ...(task.blocked ? [line('blocked', `${task.blocked.kind}: ${task.blocked.reason}`)] : []),
    ...(task.reason === null ? [] : [line('reason', task.reason)]),
    line('review', task.review),
    line('goal', `${task.goal_id} at revision ${task.goal_revision}`),
    line('operation', task.operation_id),
    ...(cost === null ? [] : [
      line('cost', costText(cost)),
      ...(cost.overrun === 'none' ? [] : [line('overrun', cost.overrun)]),
    ]),
    line('created', task.created_at),
    line('updated', task.updated_at),
  ].join('')
}
