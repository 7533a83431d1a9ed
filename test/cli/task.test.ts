import { verifyAudit } from '../../src/governance/audit.js'
import { getTask } from '../../src/governance/board/visible-tasks.js'
import { verifyBoard } from '../../src/governance/board/verify-board.js'
import { holdGuard } from '../../src/state/holds/guard.js'
import { bootstrapLedger } from '../../src/governance/ledger/account.js'
import { markContacted, reserve } from '../../src/governance/ledger/steps.js'
import { collections, type Task } from '../../src/governance/rows.js'
import { minute } from '../support/clock.js'
import { addAndSignIn, admit, taskAt, type Stage } from '../support/tasks.js'
import { World, type StateWorld } from '../world/world.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { sessionOf } from '../world/session.js'

/** A task of the session in use, whose process counts as alive until the test is over. */
const make = async (t: { teardown(fn: () => void): void }, at: StateWorld, stage: Stage) => {
  const task = await taskAt(at, sessionOf(at), stage)
  const guard = await holdGuard(at.place.stateDir, task.operation_id)
  t.teardown(() => guard.release())
  return task
}

const asBob = async (at: StateWorld): Promise<void> => {
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  await at.json(['login', '--owner', 'bob', '--passphrase-file', file])
}

t.test('tasks are listed and shown from the state directory, without content', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  t.strictSame(await at.json(['task', 'list']), [])
  const done = await make(t, at, 'succeeded')
  const blocked = await make(t, at, 'blocked')
  const list = await at.json(['task', 'list'])
  t.strictSame(list.map(({ id }: { id: string }) => id), [blocked.task_id, done.task_id])
  t.hasStrict(list[1], {
    kind: 'inference.alpha-text.v1', state: 'succeeded', review: 'pending', done: false,
    access: 'current', recovered: [],
  })
  const shown = await at.json(['task', 'show', blocked.task_id])
  t.hasStrict(shown, {
    task: {
      state: 'blocked',
      blocked: { kind: 'cost_liability', reason: 'alpha_cost_readback_required' },
    },
    receipt: null,
  })
  const text = (await at.run(['task', 'list'])).stdout
  t.match(text, /blocked \(alpha_cost_readback_required\)/)
  t.notOk((text + JSON.stringify([list, shown])).includes('a question'))
  t.equal((await at.json(['task', 'list', '--state', 'blocked'])).length, 1)
  t.equal((await at.json(['task', 'list', '--open'])).length, 1)
  t.equal((await at.json(['task', 'list', '--limit', '1'])).length, 1)
  t.equal((await at.json(['task', 'list', '--kind', 'other'])).length, 0)
  t.hasStrict(failure(await at.run(['task', 'list', '--state', 'x', '--json'])), { status: 3 })
})

t.test('A-119 A-120 a task is done by an operator’s review alone', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const first = await make(t, at, 'succeeded')
  const second = await make(t, at, 'succeeded')
  t.hasStrict(await at.json(['task', 'review', first.task_id, '--approve']), {
    state: 'succeeded', review: 'approved', done: true,
  })
  t.hasStrict(await at.json(['task', 'review', second.task_id, '--reject']), {
    state: 'succeeded', review: 'rejected', done: false,
  })
  const turned = await at.run(['task', 'review', second.task_id, '--approve', '--json'])
  t.hasStrict(failure(turned), { status: 5, code: 'already_reviewed', out: '' })
  for (const flags of [[], ['--approve', '--reject']]) {
    const ran = await at.run(['task', 'review', first.task_id, ...flags, '--json'])
    t.hasStrict(failure(ran), { status: 2, code: 'one_verdict' })
  }
  t.match((await at.run(['task', 'show', first.task_id])).stdout, /state +succeeded \(done\)/)
})

t.test('A-123 a task whose charge is not known can be neither reviewed nor cancelled', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id } = await make(t, at, 'blocked')
  for (const words of [['review', id, '--approve'], ['review', id, '--reject'], ['cancel', id]]) {
    const ran = await at.run(['task', ...words, '--json'])
    t.hasStrict(failure(ran), { status: 7, code: 'task_blocked', out: '' })
    t.hasStrict(ran.error(), { reason: 'alpha_cost_readback_required', status: 423 })
  }
  t.hasStrict(await at.json(['task', 'show', id]), { task: { done: false, state: 'blocked' } })
})

t.test('a task is cancelled at once, or asked to stop where it runs', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const queued = await make(t, at, 'queued')
  t.hasStrict(await at.json(['task', 'cancel', queued.task_id]), {
    state: 'cancelled', reason: 'cancelled_by_owner',
  })
  const running = await make(t, at, 'running')
  const asked = await at.json(['task', 'cancel', running.task_id])
  t.matchStrict(asked, { state: 'running', cancel_requested_at: /^2026/ })
  t.hasStrict(failure(await at.run(['task', 'cancel', 'task_x', '--json'])), { status: 6 })
})

t.test('a cancel of a task whose process died tells how it ended', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id } = await taskAt(at, sessionOf(at), 'running')
  const told = await at.json(['task', 'cancel', id])
  const { state, reason } = getTask(at.view(), id)
  t.not(state, 'running', 'its process runs no more')
  t.hasStrict(told, { state, reason })
})

t.test('how many holds a recovery released and how many charges it leaves unknown is told, each by its own number', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  await at.transact((tx, now) => bootstrapLedger(tx, now, 1_000))
  const sessions = [sessionOf(at)]
  for (const name of ['bob', 'cyd', 'dan']) {
    sessions.push((await addAndSignIn(at, sessionOf(at), name)).session)
  }
  for (const [n, session] of sessions.entries()) {
    const contacted = n !== 1
    const { task_id: taskId, owner, operation_id: operationId } =
      await taskAt(at, session, 'running')
    const binding = { operationId, runtime: 'alpha_text_native', profile: 'alpha.text' } as const
    await at.transact((tx, now) => {
      reserve(tx, now, { ...binding, taskId, principal: owner, bound: 100 })
      if (contacted) markContacted(tx, now, binding)
    })
  }
  const { stderr } = must(await at.run(['goal', 'add', 'Whatever changes something']))
  t.match(stderr, 'recovered: 1 hold released, never contacted')
  t.match(stderr, 'recovered: 3 charges unknown after a cut-off contact')
  t.match(stderr, 'recovered: 4 interrupted tasks ended')
})

t.test('A-189 another owner sees, reviews, cancels and recovers nothing', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const tasks: Task[] = []
  for (const stage of ['succeeded', 'blocked', 'running'] as const) {
    tasks.push(await make(t, at, stage))
  }
  await asBob(at)
  t.strictSame(await at.json(['task', 'list']), [])
  const missing = (await at.run(['task', 'show', 'task_x', '--json'])).stderr
  for (const { task_id: id } of tasks) {
    for (const words of [
      ['show', id], ['review', id, '--approve'], ['cancel', id], ['recover', id],
    ]) {
      const ran = await at.run(['task', ...words, '--json'])
      t.hasStrict(failure(ran), { status: 6, code: 'task_not_found', out: '' })
      t.equal(ran.stderr, missing, 'as if there were none')
    }
  }
})

t.test('A-130 after a new login a task is listed, and recovered explicitly', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id, original_root } = await make(t, at, 'succeeded')
  const { root } = await at.json(['login', '--replace'])
  t.hasStrict(await at.json(['task', 'list']), [{ id, access: 'root_replaced' }])
  const text = (await at.run(['task', 'show', id])).stdout
  t.match(text, new RegExp(`root_replaced, see: sallyport task recover ${id}`))
  for (const words of [['review', id, '--approve'], ['cancel', id]]) {
    const ran = await at.run(['task', ...words, '--json'])
    t.hasStrict(failure(ran), { status: 4, code: 'root_replaced', out: '' })
    t.equal(ran.error().status, 403)
  }
  t.match((await at.run(['task', 'cancel', id])).stderr, new RegExp(`task recover ${id}`))
  const recovered = await at.json(['task', 'recover', id])
  t.hasStrict(recovered, {
    access: 'current', current_root: root.id, original_root,
    recovered: [{ root: root.id, from_root: original_root }],
  })
  t.strictSame(await at.json(['task', 'recover', id]), recovered)
  t.hasStrict(await at.json(['task', 'review', id, '--approve']), { done: true })
  const view = at.view()
  t.strictSame([...verifyBoard(view), ...verifyAudit(view)], [])
})

t.test('A-130 every finished task is taken over in one audited act, and no other', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const done = [await make(t, at, 'succeeded'), await make(t, at, 'succeeded')]
  const blocked = await make(t, at, 'blocked')
  const { root } = await at.json(['login', '--replace'])
  const refused = await at.run(['task', 'review', done[0]?.task_id ?? '', '--approve'])
  t.match(refused.stderr, /task recover task_\S+`\. `sallyport task recover --all` takes over/)
  const open = await at.run(['task', 'cancel', blocked.task_id])
  t.notMatch(open.stderr, '--all', 'a task that is not finished is not among them')
  for (const words of [[], [done[0]?.task_id ?? '', '--all']]) {
    const ran = await at.run(['task', 'recover', ...words, '--json'])
    t.hasStrict(failure(ran), { status: 2, code: 'one_task_or_all' })
  }
  const before = at.view().all(collections.audit).length
  t.hasStrict(await at.json(['task', 'recover', '--all']), { recovered: 2, acts: 1 })
  t.equal(at.view().all(collections.audit).length, before + 1)
  t.hasStrict(await at.json(['audit', 'list', '--limit', '1']), [{
    what: 'task.recovered_all', subject: root.id, facts: { tasks: 2 },
  }])
  const access = Object.fromEntries((await at.json(['task', 'list']))
    .map((task: { id: string; access: string }) => [task.id, task.access]))
  for (const { task_id: id } of done) t.equal(access[id], 'current')
  t.equal(access[blocked.task_id], 'root_replaced')
  const { sequence } = at.view()
  t.match((await at.run(['task', 'recover', '--all'])).stdout, 'No finished task of yours')
  t.equal(at.view().sequence, sequence, 'again is nothing to do')
  t.strictSame([...verifyBoard(at.view()), ...verifyAudit(at.view())], [])
  await asBob(at)
  t.hasStrict(await at.json(['task', 'recover', '--all']), { recovered: 0, acts: 0 })
})

t.test('A-130 with all of them nothing is taken from another session that lives, and what an idle one left is', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { root: lives } = await at.json(['login'])
  const held = await make(t, at, 'succeeded')
  await at.json(['login'])
  const left = await make(t, at, 'succeeded')
  await at.json(['logout'])
  const { root: own } = await at.json(['login'])
  const waits = async () => (await at.json(['status'])).waiting
    .flatMap(({ what, command }: Record<string, string>) => (what === 'review' ? [command] : []))
  t.strictSame(await waits(), ['sallyport task recover --all'])
  t.hasStrict(await at.json(['task', 'recover', '--all']), { recovered: 1, acts: 1 })
  const holders = () => [held, left].map(({ task_id: id }) => getTask(at.view(), id).current_root)
  t.strictSame(holders(), [lives.id, own.id])
  at.clock.advance(31 * minute)
  await at.json(['login'])
  t.strictSame(await waits(), ['sallyport task recover --all'], 'nobody is there')
  t.hasStrict(await at.json(['task', 'recover', '--all']), { recovered: 2, acts: 1 })
})

t.test('a task whose process died is ended before a mutating verb does its work', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task } = await admit(at, sessionOf(at))
  const ran = await at.run(['goal', 'add', 'Tides'])
  t.equal(ran.status, 0)
  t.match(ran.stderr, /recovered: 1 interrupted task/)
  t.hasStrict(await at.json(['task', 'show', task.task_id]), { task: { state: 'failed' } })
})
