import t from 'tap'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import type { Tx } from '../../../src/state/types.js'
import { signIn, taskAt, type Stage } from '../../support/tasks.js'
import { World } from '../../world/world.js'

type Forgery = readonly [stage: Stage, code: string, forge: (tx: Tx, task: Task) => void]

const open = (tx: Tx, task: Task, patch: Partial<Task>): void =>
  tx.put(collections.openTasks, task.task_id, { ...task, ...patch })
const closed = (tx: Tx, task: Task, patch: Partial<Task>): void =>
  tx.put(collections.closedTasks, task.task_id, { ...task, ...patch })

const forgeries: readonly Forgery[] = [
  ['running', 'task_misplaced', (tx, task) => open(tx, task, { state: 'failed', reason: 'x' })],
  ['running', 'task_doubled', (tx, task) => closed(tx, task, { state: 'failed', reason: 'x' })],
  ['running', 'task_id_mismatch', (tx, task) => tx.put(collections.openTasks, 'task_x', task)],
  ['running', 'blocked_mismatch', (tx, task) =>
    open(tx, task, { blocked: { kind: 'a', reason: 'b' } })],
  ['failed', 'reason_mismatch', (tx, task) => closed(tx, task, { reason: null })],
  ['running', 'lease_missing', (tx, task) => open(tx, task, { lease: null })],
  ['failed', 'lease_mismatch', (tx, task) =>
    closed(tx, task, { lease: { holder: 'x', fence: 1, expires_at: task.deadline_at } })],
  ['running', 'fence_mismatch', (tx, task) => open(tx, task, { lease_fence: 9 })],
  ['failed', 'attempt_mismatch', (tx, task) => closed(tx, task, { attempt: 2 })],
  ['succeeded', 'review_mismatch', (tx, task) => closed(tx, task, { review: 'none' })],
  ['succeeded', 'done_mismatch', (tx, task) => closed(tx, task, { done_at: task.updated_at })],
  ['failed', 'result_mismatch', (tx, task) =>
    closed(tx, task, { result_artifact_id: task.input_artifact_id })],
  ['succeeded', 'result_missing', (tx, task) => closed(tx, task, { result_artifact_id: 'art_x' })],
  ['failed', 'root_mismatch', (tx, task) => closed(tx, task, { current_root: 'root_x' })],
  ['failed', 'purpose_mismatch', (tx, task) => closed(tx, task, { original_root: 'root_x' })],
  ['failed', 'provenance_mismatch', (tx, task) => closed(tx, task, { owner: 'prn_x' })],
  ['failed', 'job_mismatch', (tx, task) => tx.remove(collections.jobs, task.job_id)],
  ['failed', 'key_mismatch', (tx, task) =>
    tx.remove(collections.idempotency, task.idempotency_key)],
  ['failed', 'goal_mismatch', (tx, task) => tx.remove(collections.goals, task.goal_id)],
  ['failed', 'goal_ahead', (tx, task) => closed(tx, task, { goal_revision: 2 })],
  ['failed', 'input_mismatch', (tx, task) =>
    tx.remove(collections.artifacts, task.input_artifact_id)],
  ['running', 'slot_mismatch', (tx) =>
    tx.all(collections.ownerSlots).forEach(({ id }) => tx.remove(collections.ownerSlots, id))],
  ['failed', 'slot_stray', (tx, task) => {
    const { owner, kind, task_id } = task
    tx.put(collections.ownerSlots, `${owner}/${kind}`, { owner, kind, task_id })
  }],
  ['failed', 'key_stray', (tx, task) => tx.remove(collections.closedTasks, task.task_id)],
  ['failed', 'job_stray', (tx, task) => tx.remove(collections.closedTasks, task.task_id)],
]

t.test('A-123 every contradiction of the board is found, a forged Done included', async (t) => {
  for (const [stage, code, forge] of forgeries) {
    const bench = await World.still(t).state({ owner: 'ada' })
    const { session } = await signIn(bench)
    const task = await taskAt(bench, session, stage)
    t.strictSame(verifyBoard(bench.view()), [], `${stage} is sound`)
    await bench.transact((tx) => forge(tx, task))
    t.ok(verifyBoard(bench.view()).some((problem) => problem.code === code), code)
  }
})
