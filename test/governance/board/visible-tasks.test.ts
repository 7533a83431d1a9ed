import t from 'tap'
import {
  getJob, getTask, listTasks, requireOwnTask,
} from '../../../src/governance/board/visible-tasks.js'
import type { TaskUse } from '../../../src/governance/board/visible-tasks.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { addGoal, closeGoal, updateGoal } from '../../../src/governance/goals.js'
import { collections } from '../../../src/governance/rows.js'
import type { Session } from '../../../src/governance/context.js'
import { addAndSignIn, admit, signIn, taskAt } from '../../support/tasks.js'
import { World, type StateWorld } from '../../world/world.js'

const uses: TaskUse[] = ['show', 'read', 'review', 'cancel']

const outcomes = (bench: StateWorld, session: Session, id: string): Record<string, string> => {
  const outcome = (use: TaskUse): string => {
    try {
      return requireOwnTask(bench.view(), session, id, { for: use }).task_id === id ? 'ok' : 'other'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return Object.fromEntries(uses.map((use) => [use, outcome(use)]))
}

t.test('A-130 A-189 another owner finds no task, as if there were none', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const { task_id: id } = await taskAt(bench, ada.session, 'succeeded')
  const none = Object.fromEntries(uses.map((use) => [use, 'task_not_found']))
  t.strictSame(outcomes(bench, bob.session, id), none)
  t.strictSame(outcomes(bench, bob.session, 'task_x'), none)
  t.strictSame(outcomes(bench, ada.session, id), Object.fromEntries(uses.map((use) => [use, 'ok'])))
  t.strictSame(listTasks(bench.view(), bob.session), [])
  const errorOf = (wanted: string): unknown => {
    try {
      return requireOwnTask(bench.view(), bob.session, wanted)
    } catch (error) {
      return JSON.stringify({ ...(error as object), message: (error as Error).message })
    }
  }
  t.equal(errorOf(id), errorOf('task_x'), 'the two errors do not differ')
})

t.test('A-130 a replaced root reads, reviews and cancels nothing, and is told how to go on', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const { task_id: id } = await taskAt(bench, first.session, 'succeeded')
  const second = await signIn(bench, 'ada', { replace: true })
  t.strictSame(outcomes(bench, second.session, id), {
    show: 'ok', read: 'root_replaced', review: 'root_replaced', cancel: 'root_replaced',
  })
  t.throws(() => requireOwnTask(bench.view(), second.session, id), {
    kind: 'unauthorized',
    code: 'root_replaced',
    next: `Run \`sallyport task recover ${id}\`.`,
  })
})

t.test('A-130 a changed goal stops reading and review, and hinders no cancel', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'Tides')
  const { task } = await admit(bench, session, { goalId })
  const refused = { show: 'ok', read: 'goal_changed', review: 'goal_changed', cancel: 'ok' }
  await updateGoal(bench.gov, session, { goalId, title: 'Moons' })
  t.strictSame(outcomes(bench, session, task.task_id), refused)
  const other = await addGoal(bench.gov, session, 'Other')
  await bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'failed', { reason: 'test' }))
  const { task: second } = await admit(bench, session, { goalId: other.goal_id })
  t.equal(outcomes(bench, session, second.task_id).read, 'ok')
  await closeGoal(bench.gov, session, { goalId: other.goal_id })
  t.strictSame(outcomes(bench, session, second.task_id), refused)
  await bench.transact((tx) => tx.remove(collections.goals, other.goal_id))
  t.strictSame(outcomes(bench, session, second.task_id), refused)
})

t.test('the rows of a task name its input and hold no content', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'succeeded')
  const rows = JSON.stringify([
    ...listTasks(bench.view(), session),
    getJob(bench.view(), task),
    bench.view().all(collections.artifacts),
    bench.view().all(collections.audit),
  ])
  t.ok(rows.includes(task.input_artifact_id))
  t.notOk(rows.includes('a question'))
  t.notOk(rows.includes('an answer'))
})

t.test('a list is the owner’s, newest first, filtered and bounded', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const ids: string[] = []
  for (const stage of ['failed', 'succeeded', 'blocked', 'running'] as const) {
    ids.push((await taskAt(bench, session, stage)).task_id)
  }
  const list = (filter = {}): string[] =>
    listTasks(bench.view(), session, filter).map(({ task_id }) => task_id)
  t.strictSame(list(), ids.toReversed())
  t.strictSame(list({ limit: 2 }), [ids[3], ids[2]])
  t.strictSame(list({ state: 'failed' }), [ids[0]])
  t.strictSame(list({ openOnly: true }), [ids[3], ids[2]])
  t.strictSame(list({ kind: 'other.kind' }), [])
  t.strictSame(list({ goalId: 'goal_x' }), [])
})

t.test('a task without its job is damage', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task } = await admit(bench, session)
  await bench.transact((tx) => tx.remove(collections.jobs, task.job_id))
  t.throws(() => getJob(bench.view(), getTask(bench.view(), task.task_id)), {
    kind: 'damaged', code: 'job_missing',
  })
})
