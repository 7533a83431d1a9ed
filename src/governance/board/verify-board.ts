/** Checks of the whole board, for `state check`: every rule that the functions here keep. */
import { each, findEach } from '../../state/each.js'
import type { View } from '../../state/types.js'
import type { Problem } from '../context.js'
import { rootsOfTask } from '../retention/tasks.js'
import { collections, type Task, type UsedKey } from '../rows.js'
import { findTask, slotId } from './place.js'
import { isOpen, isOutstanding } from './states.js'

type Rule = readonly [code: string, text: string, holds: boolean]

const shapeRules = (task: Task): readonly Rule[] => {
  const { state, review } = task
  const last = task.recovered.at(-1)?.root ?? task.original_root
  const isBlocked = state === 'blocked'
  const hasReason = state === 'failed' || state === 'cancelled'
  const queuedOrRunning = state === 'queued' || state === 'running'
  const succeeded = state === 'succeeded'
  return [
    [
      'blocked_mismatch',
      'A task names a block exactly when blocked.',
      (task.blocked !== null) === isBlocked,
    ],
    [
      'reason_mismatch',
      'A task names a reason exactly when ended so.',
      (task.reason !== null) === hasReason,
    ],
    [
      'lease_mismatch',
      'Only a queued or running task has a lease.',
      task.lease === null || queuedOrRunning,
    ],
    [
      'fence_mismatch',
      'The lease of a task has the highest fence that was granted.',
      task.lease === null || task.lease.fence === task.lease_fence,
    ],
    ['lease_missing', 'A running task has a lease.', state !== 'running' || task.lease !== null],
    [
      'review_mismatch',
      'A task is in review exactly when succeeded.',
      (review !== 'none') === succeeded,
    ],
    [
      'done_mismatch',
      'A task is Done exactly when approved.',
      (task.done_at !== null) === (review === 'approved'),
    ],
    [
      'result_mismatch',
      'Only a succeeded task has a result.',
      task.result_artifact_id === null || succeeded,
    ],
    [
      'root_mismatch',
      'The current root is the last recovered or the original one.',
      task.current_root === last,
    ],
    [
      'purpose_mismatch',
      'The purpose was given under the original root.',
      task.purpose.root === task.original_root,
    ],
    [
      'provenance_mismatch',
      'The provenance names the owner.',
      task.provenance.principal === task.owner,
    ],
  ]
}

const linkRules = (view: View, task: Task): readonly Rule[] => {
  const job = view.get(collections.jobs, task.job_id)
  const key = view.get(collections.idempotency, task.idempotency_key)
  const goal = view.get(collections.goals, task.goal_id)
  const input = view.get(collections.artifacts, task.input_artifact_id)
  const slot = view.get(collections.ownerSlots, slotId(task))
  const holdsSlot = slot?.task_id === task.task_id
  const sameJob = job?.task_id === task.task_id && job.operation_id === task.operation_id
  const sameKey = key?.task_id === task.task_id && key.request_digest === task.request_digest
  const result = task.result_artifact_id === null
    ? null
    : view.get(collections.artifacts, task.result_artifact_id)
  const ownsResult = result?.adopted === true && result.owner === task.owner
  return [
    ['job_mismatch', 'A task has its own job.', sameJob],
    ['attempt_mismatch', 'A job is at the attempt of its task.', job?.attempt === task.attempt],
    ['key_mismatch', 'A task has its own idempotency key.', sameKey && key.kind === task.kind],
    ['goal_mismatch', 'A task has a goal of its owner.', goal?.owner === task.owner],
    [
      'goal_ahead',
      'A task is of a revision that its goal has had.',
      (goal?.revision ?? 0) >= task.goal_revision,
    ],
    [
      'input_mismatch',
      'A task has its own input.',
      input?.task_id === task.task_id && input.owner === task.owner,
    ],
    [
      'slot_mismatch',
      'A task has its owner’s place exactly when outstanding.',
      holdsSlot === isOutstanding(task.state),
    ],
    ['result_missing', 'A result is adopted and its owner’s.', result === null || ownsResult],
  ]
}

const placeProblems = (view: View): Problem[] => {
  const problems: Problem[] = []
  const places = [[collections.openTasks, true], [collections.closedTasks, false]] as const
  for (const [spec, open] of places) {
    for (const { id, doc } of each(view, spec)) {
      const rules: readonly Rule[] = [
        ['task_id_mismatch', 'A task lies under its own id.', id === doc.task_id],
        [
          'task_misplaced',
          'A task lies with the open or the finished ones.',
          isOpen(doc.state) === open,
        ],
      ]
      const all = [...rules, ...shapeRules(doc), ...linkRules(view, doc)]
      for (const [code, text, holds] of all) if (!holds) problems.push({ code, subject: id, text })
      if (open && view.get(collections.closedTasks, id) !== undefined) {
        const text = 'A task lies in both collections.'
        problems.push({ code: 'task_doubled', subject: id, text })
      }
    }
  }
  return problems
}

/** The task of a key is there, or was here before a restore, or has been pruned and is gone. */
const isRight = (id: string, key: UsedKey, task: Task | undefined): boolean => {
  if (id !== key.key) return false
  if (task === undefined) return key.restored === true || key.pruned !== undefined
  return task.idempotency_key === id && key.pruned === undefined
}

/** Counted where the tasks went; keys of former states were counted there. */
const prunedIn = (view: View): number =>
  view.all(collections.taskPrunes)
    .reduce((sum, { doc }) => sum + doc.succeeded + doc.failed + doc.cancelled, 0)

const keyProblems = (view: View): Problem[] => {
  const problems: Problem[] = []
  let pruned = 0
  for (const { id, doc } of each(view, collections.idempotency)) {
    if (!isRight(id, doc, findTask(view, doc.task_id))) {
      problems.push({ code: 'key_stray', subject: id, text: 'A key made no such task.' })
    }
    if (doc.pruned !== undefined && doc.restored !== true) pruned += 1
  }
  if (pruned > prunedIn(view)) {
    const text = 'More keys say that their task was pruned than prunes have counted.'
    problems.push({ code: 'tasks_pruned_uncounted', subject: 'tasks_pruned', text })
  }
  return problems
}

const rootProblems = (view: View): Problem[] => {
  const named = new Set<string>()
  for (const spec of [collections.openTasks, collections.closedTasks]) {
    for (const { doc } of each(view, spec)) for (const root of rootsOfTask(doc)) named.add(root)
  }
  return findEach(view, collections.roots, ({ id, doc }) =>
    (doc.named === false && named.has(id) ? [{
      code: 'root_named_unnoted', subject: id,
      text: 'A session does not say that a task names it.',
    }] : []))
}

const indexProblems = (view: View): Problem[] => {
  const problems: Problem[] = []
  for (const { id, doc } of each(view, collections.ownerSlots)) {
    const task = findTask(view, doc.task_id)
    const holder = task === undefined ? null : slotId(task)
    const ok = id === holder && task !== undefined && isOutstanding(task.state)
    if (!ok) problems.push({ code: 'slot_stray', subject: id, text: 'A place holds no such task.' })
  }
  problems.push(...keyProblems(view))
  for (const { id, doc } of each(view, collections.jobs)) {
    const ok = id === doc.job_id && findTask(view, doc.task_id)?.job_id === id
    if (!ok) problems.push({ code: 'job_stray', subject: id, text: 'A job belongs to no task.' })
  }
  return problems
}

/** Every way in which the board contradicts itself; an empty list when it does not. */
export const verifyBoard = (view: View): Problem[] => [
  ...placeProblems(view),
  ...indexProblems(view),
  ...rootProblems(view),
]
