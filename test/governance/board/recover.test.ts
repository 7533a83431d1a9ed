import t from 'tap'
import { listAudit } from '../../../src/governance/audit.js'
import { getTask, requireOwnTask } from '../../../src/governance/board/visible-tasks.js'
import {
  isTakenWithAll, recoverableTasks, recoverFinished, recoveriesMax, recoverOwnership,
} from '../../../src/governance/board/recover.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { addGoal, closeGoal, defaultGoal, updateGoal } from '../../../src/governance/goals.js'
import { collections } from '../../../src/governance/rows.js'
import { logout } from '../../../src/governance/stops/people.js'
import type { Session } from '../../../src/governance/context.js'
import type { Store } from '../../../src/state/types.js'
import { hour, minute } from '../../support/clock.js'
import { addAndSignIn, signIn, taskAt } from '../../support/tasks.js'
import { World, type StateWorld } from '../../world/world.js'

const recover = (bench: StateWorld, session: Session, id: string) =>
  bench.transact((tx, now) => recoverOwnership(tx, now, session, id))

t.test('A-130 recovery gives a new session of the same owner the task, with an audit row', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const task = await taskAt(bench, first.session, 'succeeded')
  const { task_id: id } = task
  const second = await signIn(bench, 'ada', { replace: true })
  t.throws(() => requireOwnTask(bench.view(), second.session, id), { code: 'root_replaced' })
  const recovered = await recover(bench, second.session, id)
  const [from_root, root] = [first.session.root.root_id, second.session.root.root_id]
  t.hasStrict(recovered, { current_root: root, recovered: [{ root, from_root }] })
  t.equal(recovered.original_root, from_root, 'never the original root')
  t.strictSame(recovered.purpose, task.purpose)
  t.strictSame(recovered.provenance, task.provenance)
  t.hasStrict(listAudit(bench.view()).at(-1), {
    what: 'task.recovered', root, subject: id, facts: { from_root },
  })
  t.doesNotThrow(() => requireOwnTask(bench.view(), second.session, id))
  t.throws(() => requireOwnTask(bench.view(), first.session, id), { code: 'root_replaced' })
  const { sequence } = bench.view()
  t.strictSame(await recover(bench, second.session, id), recovered)
  t.equal(bench.view().sequence, sequence, 'again is nothing to do')
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('another owner recovers nothing, nor does a session that has ended', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const task = await taskAt(bench, ada.session, 'succeeded')
  await t.rejects(recover(bench, bob.session, task.task_id), { code: 'task_not_found' })
  const late = await signIn(bench)
  await logout(bench.gov, late.token)
  await t.rejects(recover(bench, late.session, task.task_id), { code: 'session_ended' })
  t.strictSame(getTask(bench.view(), task.task_id), task)
})

t.test('A-130 many are taken over at once: those of the owner, as far as one act goes', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const own = await taskAt(bench, ada.session, 'succeeded')
  const foreign = await taskAt(bench, bob.session, 'succeeded')
  const { session } = await signIn(bench, 'ada', { replace: true })
  const found = recoverableTasks(bench.gov, session)
  t.strictSame(found.map(({ task_id: id }) => id), [own.task_id])
  const worn = Array.from({ length: recoveriesMax }, () =>
    ({ at: own.updated_at, root: 'r', from_root: 'r' }))
  const all = [own, foreign, { task_id: 'task_x', current_root: own.current_root }]
  const recover = () => bench.transact((tx, now) => recoverFinished(tx, now, session, all))
  await bench.transact((tx) =>
    tx.put(collections.closedTasks, own.task_id, { ...own, recovered: worn }))
  t.equal(await recover(), 0, 'what was recovered too often is passed over')
  await bench.transact((tx) => tx.put(collections.closedTasks, own.task_id, own))
  t.equal(await recover(), 1)
  t.equal(getTask(bench.view(), own.task_id).current_root, session.root.root_id)
  t.strictSame(getTask(bench.view(), foreign.task_id), foreign)
  t.equal(await recover(), 0, 'again is nothing to do')
  const { session: other } = await signIn(bench)
  const late = await bench.transact((tx, now) => recoverFinished(tx, now, other, found))
  t.equal(late, 0, 'what somebody took over since the look is theirs')
})

t.test('what a session of another machine holds is taken with all once its row is over: its use is noted there', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const task = await taskAt(bench, first.session, 'succeeded')
  bench.clock.advance(31 * minute)
  const { session } = await signIn(bench)
  const taken = (machine: string | null): boolean => isTakenWithAll(bench.view(), {
    ...bench.gov, store: Object.create(bench.gov.store, { machine: { value: machine } }) as Store,
  }, session, task)
  t.strictSame([null, 'first'].map(taken), [true, false])
  bench.clock.advance(8 * hour)
  t.equal(taken('first'), true)
})

t.test('a finished task also takes over the revision of its goal; an open one never does', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const owner = session.principal.principal_id
  const { goal_id: goalId } = defaultGoal(bench.view(), owner)
  const finished = await taskAt(bench, session, 'succeeded')
  const open = await taskAt(bench, session, 'running')
  await updateGoal(bench.gov, session, { goalId, title: 'Moons' })
  const code = 'goal_changed'
  for (const { task_id: id } of [finished, open]) {
    t.throws(() => requireOwnTask(bench.view(), session, id), { code })
  }
  t.hasStrict(await recover(bench, session, finished.task_id), { goal_revision: 2 })
  t.hasStrict(listAudit(bench.view()).at(-1), {
    what: 'task.recovered', facts: { goal_revision: 2, from_goal_revision: 1 },
  })
  t.doesNotThrow(() => requireOwnTask(bench.view(), session, finished.task_id))
  t.strictSame(await recover(bench, session, open.task_id), open, 'there is nothing to give it')
  const other = await signIn(bench)
  const moved = await recover(bench, other.session, open.task_id)
  t.hasStrict(moved, { goal_revision: 1, current_root: other.session.root.root_id })
  t.throws(() => requireOwnTask(bench.view(), other.session, open.task_id), { code })
  t.doesNotThrow(() => requireOwnTask(bench.view(), other.session, open.task_id, { for: 'cancel' }))
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('a finished task of a closed goal can be recovered, of a goal that is gone it cannot', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'Tides')
  const task = await taskAt(bench, session, 'failed')
  await bench.transact((tx) => {
    const row = tx.get(collections.closedTasks, task.task_id)!
    tx.put(collections.closedTasks, task.task_id, { ...row, goal_id: goalId })
  })
  await closeGoal(bench.gov, session, { goalId })
  t.hasStrict(await recover(bench, session, task.task_id), { goal_revision: 2 })
  await bench.transact((tx) => tx.remove(collections.goals, goalId))
  await t.rejects(recover(bench, session, task.task_id), { code: 'goal_changed' })
})

t.test('the list of recoveries is bounded', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const task = await taskAt(bench, first.session, 'failed')
  const entry = { at: task.updated_at, root: 'root_a', from_root: 'root_b' }
  await bench.transact((tx) =>
    tx.put(collections.closedTasks, task.task_id, {
      ...task,
      current_root: 'root_a',
      recovered: Array.from({ length: recoveriesMax }, () => entry),
    }))
  await t.rejects(recover(bench, first.session, task.task_id), {
    kind: 'conflict', code: 'recoveries_max',
  })
})
