import { listAudit } from '../../../src/governance/audit.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { getTask } from '../../../src/governance/board/visible-tasks.js'
import { reviewTask, type Verdict } from '../../../src/governance/board/review.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { collections, type Reservation } from '../../../src/governance/rows.js'
import { logout } from '../../../src/governance/stops/people.js'
import type { Session } from '../../../src/governance/context.js'
import { addAndSignIn, signIn, taskAt } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type StateWorld } from '../../world/world.js'

const review = (bench: StateWorld, session: Session, id: string, verdict: Verdict) =>
  bench.transact((tx, now) => reviewTask(tx, now, session, id, verdict))

t.test('A-120 a succeeded task is not Done before an operator approves it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'succeeded')
  t.hasStrict(task, { state: 'succeeded', review: 'pending', done_at: null })
  bench.clock.advance(1_000)
  const done = await review(bench, session, task.task_id, 'approve')
  t.hasStrict(done, { state: 'succeeded', review: 'approved' })
  t.equal(done.done_at, new Date(bench.clock.wallMs()).toISOString())
  t.hasStrict(listAudit(bench.view()).at(-1), {
    what: 'task.reviewed', root: session.root.root_id, facts: { review: 'approved' },
  })
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('a rejected task stays succeeded and is never Done', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = await taskAt(bench, session, 'succeeded')
  const rejected = await review(bench, session, id, 'reject')
  t.hasStrict(rejected, { state: 'succeeded', review: 'rejected', done_at: null })
  await t.rejects(review(bench, session, id, 'approve'), {
    kind: 'conflict', code: 'already_reviewed',
  })
  const { sequence } = bench.view()
  t.strictSame(await review(bench, session, id, 'reject'), rejected)
  t.equal(bench.view().sequence, sequence, 'the same verdict again is nothing to do')
})

t.test('A-123 a task with an unknown charge is never Done', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task_id: id } = await taskAt(bench, session, 'blocked')
  for (const verdict of ['approve', 'reject'] as const) {
    await t.rejects(review(bench, session, id, verdict), {
      kind: 'blocked', code: 'task_blocked', reason: 'alpha_cost_readback_required',
    })
  }
  t.hasStrict(getTask(bench.view(), id), { state: 'blocked', review: 'none', done_at: null })
})

t.test('A-123 a succeeded row does not hide a charge that is not accounted for', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'succeeded')
  const reservation: Reservation = {
    operation_id: task.operation_id,
    runtime: 'alpha_text_native',
    profile: 'alpha.text',
    task_id: task.task_id,
    principal: task.owner,
    bound_microusd: 10,
    state: 'unknown',
    charged_microusd: null,
    overrun: 'none',
    row_ids: [],
    updated_at: task.updated_at,
  }
  const put = (patch: Partial<Reservation>) =>
    bench.transact((tx) =>
      tx.put(collections.openReservations, task.operation_id, { ...reservation, ...patch }))
  for (const state of ['reserved', 'contacted', 'unknown'] as const) {
    await put({ state })
    await t.rejects(review(bench, session, task.task_id, 'approve'), {
      code: 'task_blocked', reason: 'liability_open',
      next: state === 'reserved' ? /ledger reservations/ : /ledger settle /,
    })
  }
  await put({ state: 'settled', charged_microusd: 20, overrun: 'review_required' })
  await t.rejects(review(bench, session, task.task_id, 'approve'), {
    code: 'task_blocked', reason: 'overrun_review_required',
    next: `Run \`sallyport ledger review ${task.operation_id}\` first.`,
  })
  t.equal(getTask(bench.view(), task.task_id).done_at, null)
})

t.test('a task that is held for an overrun is reviewed in the ledger first', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const overrun = { kind: 'overrun', reason: 'overrun_review_required' }
  const { task_id: id } = await taskAt(bench, session, 'blocked', overrun)
  await t.rejects(review(bench, session, id, 'approve'), {
    code: 'task_blocked', reason: 'overrun_review_required',
  })
  await bench.transact((tx, now) => moveTask(tx, now, id, 'succeeded'))
  t.hasStrict(await review(bench, session, id, 'approve'), { review: 'approved' })
})

t.test('only a succeeded task is reviewed, by its owner’s current session', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  for (const stage of ['failed', 'running'] as const) {
    const { task_id: id } = await taskAt(bench, ada.session, stage)
    await t.rejects(review(bench, ada.session, id, 'approve'), {
      kind: 'conflict', code: 'task_not_succeeded',
    })
  }
  const { task_id: id } = await taskAt(bench, bob.session, 'succeeded')
  await t.rejects(review(bench, ada.session, id, 'approve'), {
    code: 'task_not_found',
  })
  await logout(bench.gov, bob.token)
  await t.rejects(review(bench, bob.session, id, 'approve'), { code: 'session_ended' })
  const again = await signIn(bench, 'bob')
  await t.rejects(review(bench, again.session, id, 'approve'), { code: 'root_replaced' })
  t.equal(getTask(bench.view(), id).review, 'pending')
})
