import t from 'tap'
import { requestCancel } from '../../../src/governance/board/cancel.js'
import { leaseTask } from '../../../src/governance/board/lease.js'
import { getTask } from '../../../src/governance/board/visible-tasks.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { collections, type Reservation } from '../../../src/governance/rows.js'
import type { Session } from '../../../src/governance/context.js'
import { addAndSignIn, admit, signIn, taskAt } from '../../support/tasks.js'
import { World, type StateWorld } from '../../world/world.js'

const cancel = (bench: StateWorld, session: Session, id: string) =>
  bench.transact((tx, now) => requestCancel(tx, now, session, id))

t.test('a task that nobody works on is cancelled at once and frees its owner', async (t) => {
  for (const stage of ['accepted', 'queued'] as const) {
    const bench = await World.still(t).state({ owner: 'ada' })
    const { session } = await signIn(bench)
    const { task_id: id } = await taskAt(bench, session, stage)
    const done = await cancel(bench, session, id)
    t.hasStrict(done, { state: 'cancelled', reason: 'cancelled_by_owner' })
    await t.resolves(admit(bench, session))
    t.strictSame(await cancel(bench, session, id), done, 'again is nothing to do')
    t.strictSame(verifyBoard(bench.view()), [])
  }
})

t.test('of a task that is worked on only the wish is recorded', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const running = await taskAt(bench, session, 'running')
  const asked = await cancel(bench, session, running.task_id)
  t.matchStrict(asked, { state: 'running', cancel_requested_at: /^2026/ })
  t.strictSame(asked.lease, running.lease, 'its holder goes on to settle what it sent')
  const { sequence } = bench.view()
  t.strictSame(await cancel(bench, session, running.task_id), asked)
  t.equal(bench.view().sequence, sequence)
})

t.test('a queued task with a lease or a hold is not cancelled under its holder', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const leased = await taskAt(bench, ada.session, 'queued')
  await bench.transact((tx, now) => leaseTask(tx, now, leased.task_id, 'one', leased.deadline_at))
  t.hasStrict(await cancel(bench, ada.session, leased.task_id), { state: 'queued' })
  const held = await taskAt(bench, bob.session, 'queued')
  const reservation: Reservation = {
    operation_id: held.operation_id,
    runtime: 'alpha_text_native',
    profile: 'alpha.text',
    task_id: held.task_id,
    principal: held.owner,
    bound_microusd: 10,
    state: 'reserved',
    charged_microusd: null,
    overrun: 'none',
    row_ids: [],
    updated_at: held.updated_at,
  }
  await bench.transact((tx) => tx.put(collections.openReservations, held.operation_id, reservation))
  const asked = await cancel(bench, bob.session, held.task_id)
  t.matchStrict(asked, { state: 'queued', cancel_requested_at: /^2026/ })
})

t.test('an open liability beats a cancel', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const task = await taskAt(bench, session, 'blocked')
  await t.rejects(cancel(bench, session, task.task_id), {
    kind: 'blocked', code: 'task_blocked', reason: 'alpha_cost_readback_required',
  })
  t.strictSame(getTask(bench.view(), task.task_id), task)
})

t.test('a finished task is not cancelled, nor a foreign one', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  for (const stage of ['succeeded', 'failed'] as const) {
    const { task_id: id } = await taskAt(bench, ada.session, stage)
    await t.rejects(cancel(bench, ada.session, id), { kind: 'conflict', code: 'task_finished' })
    await t.rejects(cancel(bench, bob.session, id), { code: 'task_not_found' })
  }
})
