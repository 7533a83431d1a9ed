/** Work that outlives a process: prepared for a person, blocked and taken on, one of several. */
import { requestCancel } from '../../../src/governance/board/cancel.js'
import { leaseTask } from '../../../src/governance/board/lease.js'
import { moveTask, type Continuation } from '../../../src/governance/board/move.js'
import { getJob, getTask, requireRevision } from '../../../src/governance/board/visible-tasks.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { recoverInterrupted } from '../../../src/contact/recovery.js'
import { collections } from '../../../src/governance/rows.js'
import { minute } from '../../support/clock.js'
import { admit, kind, signIn, taskAt } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type StateWorld } from '../../world/world.js'

const limitsOf = (bench: StateWorld) => ({
  deadline_at: new Date(bench.clock.wallMs() + 30 * minute).toISOString(),
  budget_left_ms: 30 * minute,
})

const places = (bench: StateWorld) => bench.view().all(collections.ownerSlots).map(({ id }) => id)

t.test('prepared work takes no place of its owner, and recovery leaves it alone', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const first = (await admit(bench, session, { prepared: true })).task
  const second = (await admit(bench, session, { prepared: true })).task
  t.strictSame([first.state, second.state], ['prepared', 'prepared'])
  t.strictSame(places(bench), [])
  const running = await taskAt(bench, session, 'running')
  const { sequence } = bench.view()
  const report = await recoverInterrupted(bench.gov, [])
  t.strictSame(report.endedTasks, [running.task_id], 'only what a process worked on is ended')
  t.ok(bench.view().sequence > sequence)
  bench.clock.advance(60 * minute)
  await recoverInterrupted(bench.gov, [])
  t.strictSame(getTask(bench.view(), first.task_id), first, 'however long it waits')
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('prepared work that a person starts takes the place and gets its limits then', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = (await admit(bench, session, { prepared: true })).task
  const other = (await admit(bench, session)).task
  bench.clock.advance(20 * minute)
  const start = () => bench.transact((tx, now) =>
    moveTask(tx, now, id, 'accepted', { starts: limitsOf(bench) }))
  await t.rejects(start(), {
    kind: 'conflict', code: 'operation_outstanding', details: { task_id: other.task_id },
  })
  await bench.transact((tx, now) => moveTask(tx, now, other.task_id, 'failed', { reason: 'test' }))
  const started = await start()
  t.hasStrict(started, { state: 'accepted', ...limitsOf(bench) })
  t.strictSame(places(bench), [`${started.owner}/${kind}`])
  await t.rejects(bench.transact((tx, now) => moveTask(tx, now, id, 'queued', {
    starts: limitsOf(bench),
  })), new TypeError('prepared work that starts, and only such, brings its limits'))
  await bench.transact((tx, now) => moveTask(tx, now, id, 'queued'))
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('prepared work that is not wanted is cancelled at once', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = (await admit(bench, session, { prepared: true })).task
  const done = await bench.transact((tx, now) => requestCancel(tx, now, session, id))
  t.hasStrict(done, { state: 'cancelled', reason: 'cancelled_by_owner' })
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('an owner has one place for each that a kind is for, and several run at once', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const one = (await admit(bench, session, { place: 'con_1' })).task
  const two = (await admit(bench, session, { place: 'con_2' })).task
  t.strictSame(places(bench), [one, two].map(({ owner }, at) => `${owner}/${kind}/con_${at + 1}`))
  await t.rejects(admit(bench, session, { place: 'con_1' }), {
    code: 'operation_outstanding', details: { task_id: one.task_id },
  })
  await t.rejects(admit(bench, session, { place: 'a/b' }), new TypeError('not the name of a place'))
  await t.resolves(admit(bench, session), 'and the kind itself is one more')
  await bench.transact((tx, now) => moveTask(tx, now, one.task_id, 'failed', { reason: 'test' }))
  await t.resolves(admit(bench, session, { place: 'con_1' }))
  t.strictSame(verifyBoard(bench.view()), [])
})

const unknown = { kind: 'unknown_external_effect', reason: 'effect_not_known' }

t.test('blocked work goes on for its capability alone, as the next attempt', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = await taskAt(bench, session, 'blocked', unknown)
  const by = { kinds: [kind], blocked: [unknown.kind] }
  const goOn = (more: Partial<Continuation> = {}) => bench.transact((tx, now) =>
    moveTask(tx, now, id, 'queued', {
      goesOn: { by, attempt_id: 'att_2', ...limitsOf(bench), ...more },
    }))
  const before = getTask(bench.view(), id)
  for (const foreign of [{ ...by, kinds: ['other.v1'] }, { ...by, blocked: ['overrun'] }]) {
    await t.rejects(goOn({ by: foreign }), { kind: 'blocked', code: 'task_blocked' })
  }
  await t.rejects(bench.transact((tx, now) => moveTask(tx, now, id, 'queued')), {
    kind: 'blocked', code: 'task_blocked',
  })
  t.strictSame(getTask(bench.view(), id), before, 'nobody else moved it')
  const other = (await admit(bench, session)).task
  await t.rejects(goOn(), { code: 'operation_outstanding' })
  await bench.transact((tx, now) => moveTask(tx, now, other.task_id, 'failed', { reason: 'test' }))
  const queued = await goOn()
  t.hasStrict(queued, { state: 'queued', blocked: null, attempt: 2, ...limitsOf(bench) })
  t.hasStrict(getJob(bench.view(), queued), { attempt: 2, attempt_id: 'att_2' })
  t.equal(places(bench).length, 1)
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('A-123 no capability takes work on whose charge is unknown', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'blocked')
  const by = { kinds: [kind], blocked: ['cost_liability'] }
  await t.rejects(bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'queued', {
    goesOn: { by, attempt_id: 'att_2', ...limitsOf(bench) },
  })), { kind: 'blocked', code: 'task_blocked' })
  t.strictSame(getTask(bench.view(), task.task_id), task)
})

t.test('a cut-off task that has contacted somebody is blocked by its rule and can go on', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = await taskAt(bench, session, 'running')
  const rule = { kinds: [kind], ending: () => ({ state: 'blocked', blocked: unknown } as const) }
  t.strictSame((await recoverInterrupted(bench.gov, [rule])).endedTasks, [id])
  t.hasStrict(getTask(bench.view(), id), { state: 'blocked', blocked: unknown, lease_fence: 1 })
  t.strictSame(
    (await recoverInterrupted(bench.gov, [rule])).endedTasks, [], 'it waits for its person'
  )
  const by = { kinds: [kind], blocked: [unknown.kind] }
  await bench.transact((tx, now) => {
    const limits = limitsOf(bench)
    moveTask(tx, now, id, 'queued', { goesOn: { by, attempt_id: 'att_2', ...limits } })
    leaseTask(tx, now, id, 'two', limits.deadline_at)
    moveTask(tx, now, id, 'running')
  })
  t.hasStrict(getTask(bench.view(), id), { state: 'running', attempt: 2, lease: { fence: 2 } })
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('the revision of a task counts its changes, and who decided on an old one is refused', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task } = await admit(bench, session)
  const { task_id: id } = task
  t.equal(task.revision, 1)
  const queued = await bench.transact((tx, now) => moveTask(tx, now, id, 'queued', { revision: 1 }))
  t.equal(queued.revision, 2)
  await bench.transact((tx, now) => leaseTask(tx, now, id, 'one', task.deadline_at))
  t.equal(getTask(bench.view(), id).revision, 3, 'a lease is a change')
  const before = bench.view().sequence
  await t.rejects(
    bench.transact((tx, now) => moveTask(tx, now, id, 'running', { revision: queued.revision })),
    {
      kind: 'conflict', code: 'task_changed',
      details: { task_id: id, revision: 3, expected_revision: 2 },
    },
  )
  t.equal(bench.view().sequence, before)
  t.throws(() => requireRevision(getTask(bench.view(), id), 2), { code: 'task_changed' })
  t.doesNotThrow(() => requireRevision(getTask(bench.view(), id), undefined))
  const failed = await bench.transact((tx, now) =>
    moveTask(tx, now, id, 'failed', { reason: 'test', revision: 3 }))
  t.equal(failed.revision, 4)
})
