import t from 'tap'
import { listAudit } from '../../../src/governance/audit.js'
import { moveTask, type TaskPatch } from '../../../src/governance/board/move.js'
import { getTask } from '../../../src/governance/board/visible-tasks.js'
import { canGoOn, canMove, isOpen, isOutstanding } from '../../../src/governance/board/states.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { collections, taskStates, type TaskState } from '../../../src/governance/rows.js'
import { admit, signIn, taskAt, type Stage } from '../../support/tasks.js'
import { World } from '../../world/world.js'

const table: Record<TaskState, string> = {
  prepared: 'accepted failed cancelled',
  accepted: 'queued blocked failed cancelled',
  queued: 'running blocked failed cancelled',
  running: 'succeeded blocked failed cancelled',
  blocked: 'succeeded failed',
  succeeded: '',
  failed: '',
  cancelled: '',
}

t.test('A-119 the table of states is closed: exactly these arrows exist', async (t) => {
  for (const from of taskStates) {
    for (const to of taskStates) {
      t.equal(canMove(from, to), table[from].split(' ').includes(to), `${from} to ${to}`)
    }
  }
  t.strictSame(taskStates.filter(isOutstanding), ['accepted', 'queued', 'running'])
  t.strictSame(taskStates.filter(isOpen), ['prepared', 'accepted', 'queued', 'running', 'blocked'])
  const goesOn = taskStates.flatMap((from) =>
    taskStates.filter((to) => canGoOn(from, to)).map((to) => `${from} to ${to}`))
  t.strictSame(goesOn, ['blocked to queued'], 'and this one for the capability whose work it is')
})

const patchOf = (to: TaskState): TaskPatch =>
  to === 'blocked'
    ? { blocked: { kind: 'overrun', reason: 'overrun_review_required' } }
    : to === 'failed' || to === 'cancelled' ? { reason: 'test' } : {}

t.test('A-119 a move off the table is refused and changes nothing', async (t) => {
  const stages: Stage[] = ['accepted', 'queued', 'running', 'succeeded', 'failed']
  for (const stage of stages) {
    const bench = await World.still(t).state({ owner: 'ada' })
    const { session } = await signIn(bench)
    const task = await taskAt(bench, session, stage)
    for (const to of taskStates.filter((state) => !canMove(stage, state))) {
      const move = bench.transact((tx, now) => moveTask(tx, now, task.task_id, to, patchOf(to)))
      await t.rejects(move, {
        kind: 'conflict', code: 'task_state',
      })
    }
    t.strictSame(getTask(bench.view(), task.task_id), task)
  }
})

t.test('a task lies with the open or the finished ones and frees its owner’s place', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'running')
  const { task_id: id } = task
  t.equal(bench.view().all(collections.ownerSlots).length, 1)
  t.ok(task.lease)
  const blocked = { kind: 'overrun', reason: 'overrun_review_required' }
  const held = await bench.transact((tx, now) => moveTask(tx, now, id, 'blocked', { blocked }))
  t.hasStrict(held, { state: 'blocked', blocked, lease: null, review: 'none' })
  t.strictSame(bench.view().all(collections.ownerSlots), [])
  t.ok(bench.view().get(collections.openTasks, id))
  const done = await bench.transact((tx, now) => moveTask(tx, now, id, 'succeeded'))
  t.hasStrict(done, { state: 'succeeded', blocked: null, review: 'pending', done_at: null })
  t.equal(bench.view().get(collections.openTasks, id), undefined)
  t.ok(bench.view().get(collections.closedTasks, id))
  t.hasStrict(listAudit(bench.view()).slice(-2), [
    { what: 'task.moved', subject: id, facts: { from: 'running', to: 'blocked' } },
    { what: 'task.moved', subject: id, facts: { from: 'blocked', to: 'succeeded' } },
  ])
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('A-123 a task blocked on an unknown charge moves nowhere', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'blocked')
  for (const to of taskStates) {
    await t.rejects(bench.transact((tx, now) => moveTask(tx, now, task.task_id, to, patchOf(to))), {
      kind: 'blocked', code: 'task_blocked', reason: 'alpha_cost_readback_required',
    })
  }
  t.strictSame(getTask(bench.view(), task.task_id), task)
  await t.resolves(admit(bench, session), 'it holds its liability, not its owner')
})

t.test('A-123 accounted for, it ends as failed and moves nowhere else', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'blocked')
  const move = (to: TaskState) => bench.transact((tx, now) =>
    moveTask(tx, now, task.task_id, to, { ...patchOf(to), accounted: true }))
  for (const to of taskStates.filter((one) => one !== 'failed')) {
    await t.rejects(move(to), { kind: 'blocked', code: 'task_blocked' }, to)
  }
  const ended = await move('failed')
  t.hasStrict(ended, { state: 'failed', blocked: null, revision: task.revision + 1 })
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('a move says what its state needs and nothing else', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = await taskAt(bench, session, 'running')
  const wrong: [TaskState, TaskPatch][] = [
    ['failed', {}],
    ['cancelled', {}],
    ['blocked', {}],
    ['succeeded', { reason: 'test' }],
    ['failed', { reason: 'test', blocked: { kind: 'a', reason: 'b' } }],
    ['failed', { reason: 'test', result_artifact_id: 'art_1' }],
  ]
  for (const [to, patch] of wrong) {
    await t.rejects(bench.transact((tx, now) => moveTask(tx, now, id, to, patch)), {
      name: 'TypeError', message: /and only one, names|only a succeeded task has a result/,
    })
  }
  await t.rejects(bench.transact((tx, now) => moveTask(tx, now, 'task_x', 'queued')), {
    kind: 'not_found', code: 'task_not_found',
  })
  t.equal(getTask(bench.view(), id).state, 'running')
})

t.test('A-194 the budget that is kept of an operation only ever shrinks', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id, deadline_at } = await taskAt(bench, session, 'accepted')
  const move = (to: TaskState, left: number, more: TaskPatch = {}) =>
    bench.transact((tx, now) => moveTask(tx, now, id, to, { ...more, budget_left_ms: left }))
  t.equal((await move('queued', 90_000.7)).budget_left_ms, 90_000)
  t.equal((await move('running', 100_000)).budget_left_ms, 90_000)
  const blocked = { kind: 'test', reason: 'test' }
  t.equal((await move('blocked', 50_000, { blocked })).budget_left_ms, 50_000)
  const last = await move('failed', -1, { reason: 'test' })
  t.equal(last.budget_left_ms, 0)
  t.equal(last.deadline_at, deadline_at)
})
