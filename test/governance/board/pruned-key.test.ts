/** A key whose task a person has had removed: whose it was decides, and it never says more. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { sha256Hex } from '../../../src/base/canonical.js'
import { admitTask, findIdempotent } from '../../../src/governance/board/admit.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { dropTask } from '../../../src/governance/retention/tasks.js'
import { collections, type Task, type TaskPrune } from '../../../src/governance/rows.js'
import type { Session } from '../../../src/governance/context.js'
import { addAndSignIn, admissionOf, kind, signIn } from '../../support/tasks.js'
import { codeOf } from '../../support/refused.js'
import { World, type StateWorld } from '../../world/world.js'

const tombstone = (failed: number): TaskPrune => ({
  prune_id: 'pru_1', at: '2026-01-01T00:00:00.000Z', last_at: '2026-01-01T00:00:00.000Z',
  before: '2026-01-01T00:00:00.000Z', principal: 'prn_1', succeeded: 0, failed, cancelled: 0,
})

const failedTask = (world: StateWorld, session: Session, key: string): Promise<Task> =>
  world.transact((tx, now) => {
    const { task } = admitTask(tx, now, admissionOf(world, tx, now, session, {
      idempotencyKey: key,
    }))
    return moveTask(tx, now, task.task_id, 'cancelled', { reason: 'cancelled_by_owner' })
  })

t.test('the same request of the same owner is result_pruned, and whatever else comes under the key '
  + 'a conflict', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { session: bob } = await addAndSignIn(world, session, 'bob')
  const key = randomUUID()
  const task = await failedTask(world, session, key)
  await world.transact((tx, now) => {
    dropTask(tx, now, task)
    tx.put(collections.taskPrunes, 'pru_1', tombstone(1))
  })
  const asked = (who: Session, changes: object = {}): string => codeOf(() =>
    findIdempotent(world.view(), who, {
      kind, key, requestDigest: sha256Hex('request'), ...changes,
    }))
  t.equal(asked(session), 'result_pruned')
  t.equal(asked(session, { key: key.toUpperCase() }), 'result_pruned')
  t.equal(asked(session, { requestDigest: sha256Hex('another') }), 'idempotency_conflict')
  t.equal(asked(session, { kind: 'other.kind.v1' }), 'idempotency_conflict')
  t.equal(asked(bob), 'idempotency_conflict', 'whose it was is not told')
  t.strictSame(verifyBoard(world.view()), [])
})

t.test('state check tells of a pruned key whose task is there, and of more pruned keys than prunes '
  + 'have counted', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const key = randomUUID()
  const task = await failedTask(world, session, key)
  const codes = (): string[] => verifyBoard(world.view()).map(({ code }) => code)
  const used = world.view().get(collections.idempotency, key)
  if (used === undefined) throw new Error('no key')
  const pruned = { at: task.updated_at, owner: task.owner }
  await world.transact((tx) => {
    tx.put(collections.idempotency, key, { ...used, pruned })
    tx.put(collections.taskPrunes, 'pru_1', tombstone(1))
  })
  t.strictSame(codes(), ['key_stray'])
  await world.transact((tx, now) => {
    dropTask(tx, now, task)
    tx.remove(collections.taskPrunes, 'pru_1')
  })
  t.strictSame(codes(), ['tasks_pruned_uncounted'])
  await world.transact((tx) =>
    tx.put(collections.idempotency, key, { ...used, pruned, restored: true }))
  t.strictSame(codes(), [], 'one of a former state was counted there')
  await world.transact((tx) => tx.put(collections.idempotency, key, used))
  t.strictSame(codes(), ['key_stray'], 'a key whose task is lost says nothing of a prune')
})

t.test('what a task names and another registered does not go with it', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const task = await failedTask(world, session, randomUUID())
  const other = await failedTask(world, session, randomUUID())
  const job = world.view().get(collections.jobs, task.job_id)
  if (job === undefined) throw new Error('no job')
  await world.transact((tx) => tx.put(collections.jobs, task.job_id, {
    ...job, progress: { held_artifact_id: other.input_artifact_id },
  }))
  const gone = await world.transact((tx, now) => dropTask(tx, now, task))
  t.strictSame(gone.map(({ artifactId }) => artifactId), [task.input_artifact_id])
  t.not(world.view().get(collections.artifacts, other.input_artifact_id), undefined)
})
