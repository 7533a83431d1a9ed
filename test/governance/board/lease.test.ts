import fc from 'fast-check'
import { isoFromMs } from '../../../src/base/clock.js'
import { leaseTask, renewLease, requireLease } from '../../../src/governance/board/lease.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { getTask } from '../../../src/governance/board/visible-tasks.js'
import { minute } from '../../support/clock.js'
import { codeOf, codeOfWaited } from '../../support/refused.js'
import { kind, signIn, taskAt } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type StateWorld } from '../../world/world.js'

const leaseFor = (bench: StateWorld, id: string, holder: string, ms: number) =>
  bench.transact((tx, now) => leaseTask(tx, now, id, holder, isoFromMs(bench.clock.wallMs() + ms)))

t.test('A-155 a lease is good for its holder, under its fence, until it expires', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'queued')
  const check = (holder: string, fence: number, at = bench.clock.wallMs()) =>
    requireLease(bench.view(), task, holder, fence, at)
  const refused = (reason: string) => ({ kind: 'conflict', code: 'lease_not_held', reason })
  t.throws(() => check('one', 1), refused('none'))
  const lease = await leaseFor(bench, task.task_id, 'one', minute)
  t.hasStrict(lease, { holder: 'one', fence: 1 })
  t.equal(check('one', 1).task_id, task.task_id)
  t.throws(() => check('two', 1), refused('foreign'))
  t.throws(() => check('one', 0), refused('stale_fence'))
  t.throws(() => check('one', 1, Date.parse(lease.expires_at)), refused('expired'))
})

t.test('A-155 a holder that lost its lease is refused by its old fence', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'queued')
  await leaseFor(bench, task.task_id, 'one', minute)
  await t.rejects(leaseFor(bench, task.task_id, 'two', minute), {
    kind: 'conflict', code: 'lease_held',
  })
  bench.clock.advance(minute)
  t.hasStrict(await leaseFor(bench, task.task_id, 'two', 10_000), { holder: 'two', fence: 2 })
  const now = bench.clock.wallMs()
  t.throws(() => requireLease(bench.view(), task, 'one', 1, now), {
    code: 'lease_not_held', reason: 'foreign',
  })
  t.hasStrict(await leaseFor(bench, task.task_id, 'two', 10_000), { fence: 3 })
  t.throws(() => requireLease(bench.view(), task, 'two', 2, now), {
    code: 'lease_not_held', reason: 'stale_fence',
  })
})

t.test('A-155 renewing keeps the fence, a new grant raises it, and the highest one survives the lease', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id, deadline_at } = await taskAt(bench, session, 'queued')
  const renew = (fence: number, ms: number, holder = 'one') => bench.transact((tx, now) =>
    renewLease(tx, now, id, { holder, fence }, isoFromMs(bench.clock.wallMs() + ms)))
  await leaseFor(bench, id, 'one', 10_000)
  bench.clock.advance(9_000)
  const renewed = await renew(1, 20_000)
  t.hasStrict(renewed, { holder: 'one', fence: 1 })
  t.equal(getTask(bench.view(), id).lease_fence, 1)
  t.equal((await renew(1, 60 * minute)).expires_at, deadline_at, 'never past the deadline')
  await t.rejects(renew(1, minute, 'two'), { code: 'lease_not_held', reason: 'foreign' })
  t.hasStrict(await leaseFor(bench, id, 'one', 10_000), { fence: 2 })
  await t.rejects(renew(1, minute), { code: 'lease_not_held', reason: 'stale_fence' })
  bench.clock.advance(10_000)
  await t.rejects(renew(2, minute), { code: 'lease_not_held', reason: 'expired' })
  const blocked = { kind: 'unknown_effect', reason: 'effect_not_known' }
  await bench.transact((tx, now) => moveTask(tx, now, id, 'blocked', { blocked }))
  t.hasStrict(getTask(bench.view(), id), { lease: null, lease_fence: 2 })
  const by = { kinds: [kind], blocked: ['unknown_effect'] }
  await bench.transact((tx, now) => moveTask(tx, now, id, 'queued', {
    goesOn: { by, attempt_id: 'att_2', deadline_at, budget_left_ms: minute },
  }))
  t.throws(() => requireLease(bench.view(), { task_id: id }, 'one', 1, bench.clock.wallMs()), {
    code: 'lease_not_held', reason: 'stale_fence',
  })
  t.hasStrict(
    await leaseFor(bench, id, 'one', 10_000), { fence: 3 }, 'it does not begin again at 1'
  )
})

t.test('a lease never outlives the deadline of its task', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'queued')
  const lease = await leaseFor(bench, task.task_id, 'one', 60 * minute)
  t.equal(lease.expires_at, task.deadline_at)
  bench.clock.advance(2 * minute)
  await t.rejects(leaseFor(bench, task.task_id, 'two', minute), { code: 'lease_expired' })
})

t.test('only a queued or running task is leased, and a finished one has none', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'accepted')
  const { task_id: id } = task
  await t.rejects(leaseFor(bench, id, 'one', minute), { kind: 'conflict', code: 'task_state' })
  await bench.transact((tx, now) => moveTask(tx, now, id, 'queued'))
  await leaseFor(bench, id, 'one', minute)
  await bench.transact((tx, now) => moveTask(tx, now, id, 'running'))
  t.equal(getTask(bench.view(), id).lease?.fence, 1, 'it keeps the lease when it runs')
  await bench.transact((tx, now) => moveTask(tx, now, id, 'failed', { reason: 'test' }))
  const now = bench.clock.wallMs()
  t.throws(() => requireLease(bench.view(), task, 'one', 1, now), {
    code: 'lease_not_held', reason: 'none',
  })
  await t.rejects(leaseFor(bench, id, 'one', minute), { code: 'task_state' })
  await t.rejects(leaseFor(bench, id, '', minute),
    new TypeError('the holder of a lease is named in 1 to 256 characters'))
})

t.test('fences rise with every grant, and two holders never both hold', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const step = fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.integer({ min: 1, max: 9_000 }))
  const task = await taskAt(bench, session, 'queued')
  const steps = fc.sample(step, { numRuns: 40, seed: 3 })
  let fence = 0
  const grants: { holder: string; fence: number }[] = []
  for (const [holder, ms] of steps) {
    bench.clock.advance(ms % 3_000)
    let lease: { readonly fence: number } | undefined
    const told = await codeOfWaited(async () => {
      lease = await leaseFor(bench, task.task_id, holder, ms)
    })
    t.ok(['none', 'lease_held'].includes(told), told)
    if (lease !== undefined) {
      t.ok(lease.fence > fence)
      fence = lease.fence
      grants.push({ holder, fence })
    }
    const codes = grants.map((grant) => codeOf(() =>
      requireLease(bench.view(), task, grant.holder, grant.fence, bench.clock.wallMs())))
    t.ok(codes.every((code) => ['none', 'lease_not_held'].includes(code)), codes.join())
    t.ok(codes.filter((code) => code === 'none').length <= 1)
  }
  t.ok(grants.length > 1)
})
