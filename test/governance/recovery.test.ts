/** Recovery over a real store whose rows somebody has altered. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fail } from '../../src/base/errors.js'
import { routeCollection } from '../../src/contact/routes.js'
import { listAudit } from '../../src/governance/audit.js'
import { getTask } from '../../src/governance/board/visible-tasks.js'
import { holdGuard } from '../../src/state/holds/guard.js'
import { defaultEnding, type RecoveryRule } from '../../src/governance/interrupted.js'
import { bootstrapLedger } from '../../src/governance/ledger/account.js'
import { markContacted, reserve } from '../../src/governance/ledger/steps.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { recoverInterrupted, settleRestored } from '../../src/contact/recovery.js'
import { collections, type Reservation, type Task } from '../../src/governance/rows.js'
import { addAndSignIn, signIn, taskAt } from '../support/tasks.js'
import { World, type StateWorld } from '../world/world.js'

const binding = (task: Task) => ({
  operationId: task.operation_id, runtime: 'alpha_text_native', profile: 'alpha.text',
} as const)

interface Three {
  readonly bench: StateWorld
  /** Three running tasks of three owners, each with a hold of 100. */
  readonly tasks: readonly [Task, Task, Task]
}

const three = async (t: Test): Promise<Three> => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const cyd = await addAndSignIn(bench, ada.session, 'cyd')
  const running = async ({ session }: typeof ada): Promise<Task> => {
    const task = await taskAt(bench, session, 'running')
    await bench.transact((tx, now) => reserve(tx, now, {
      ...binding(task), taskId: task.task_id, principal: task.owner, bound: 100,
    }))
    return task
  }
  await bench.transact((tx, now) => bootstrapLedger(tx, now, 1_000))
  return { bench, tasks: [await running(ada), await running(bob), await running(cyd)] }
}

const alter = (bench: StateWorld, task: Task, change: Partial<Reservation>): Promise<void> =>
  bench.transact((tx) => {
    const { openReservations } = collections
    const doc = tx.get(openReservations, task.operation_id)
    if (doc) tx.put(openReservations, task.operation_id, { ...doc, ...change })
  })

const stateOf = (bench: StateWorld, task: Task) => ({
  task: getTask(bench.view(), task.task_id).state,
  money: findReservation(bench.view(), task.operation_id)?.state,
})

const account = (bench: StateWorld) => bench.view().all(collections.ledgerAccounts)[0]?.doc

t.test('A-117 one altered reservation keeps its hold and stops nothing else', async (t) => {
  const changes: readonly (readonly [string, Partial<Reservation>])[] = [
    ['runtime', { runtime: 'gateway_route' }], ['profile', { profile: 'alpha.other' }],
    ['bound', { bound_microusd: 1 }], ['state', { state: 'contacted' }], ['rows', { row_ids: [] }],
    ['operation', { operation_id: 'op_another' }],
  ]
  for (const [name, change] of changes) {
    await t.test(name, async (t) => {
      const { bench, tasks: [altered, contacted, fresh] } = await three(t)
      await bench.transact((tx, now) => markContacted(tx, now, binding(contacted)))
      await alter(bench, altered, change)
      const report = await recoverInterrupted(bench.gov, [])
      t.strictSame(report.released, [fresh.operation_id])
      t.strictSame(report.unknown, [contacted.operation_id])
      t.strictSame(report.leftAlone, [altered.operation_id], 'it is reported')
      t.strictSame(stateOf(bench, fresh), { task: 'failed', money: 'released' })
      t.strictSame(stateOf(bench, contacted), { task: 'blocked', money: 'unknown' })
      t.equal(stateOf(bench, altered).task, 'blocked')
      t.strictSame(getTask(bench.view(), altered.task_id).blocked?.kind, 'cost_liability')
      t.strictSame(stateOf(bench, altered).money, change.state ?? 'reserved', 'it is as it was')
      t.hasStrict(
        account(bench), { held_microusd: 100, unknown_microusd: 100, settled_microusd: 0 }
      )
      t.hasStrict(
        listAudit(bench.view()).at(-1), { what: 'recovery.ran', facts: { left_alone: 1 } }
      )
      const { sequence } = bench.view()
      const again = await recoverInterrupted(bench.gov, [])
      t.strictSame(again.leftAlone, report.leftAlone, 'told each time')
      t.equal(bench.view().sequence, sequence, 'and written once')
    })
  }
})

t.test('rows of a capability that are damaged end the recovery: nothing is settled beside them, and nothing is written', async (t) => {
  const { bench, tasks } = await three(t)
  const { sequence } = bench.view()
  const rule: RecoveryRule = {
    kinds: [tasks[0].kind], ending: () => { throw fail.damaged('rows_damaged', 'They are.') },
  }
  await t.rejects(recoverInterrupted(bench.gov, [rule]), { code: 'rows_damaged' })
  t.equal(bench.view().sequence, sequence)
  const asBefore = { task: 'running', money: 'reserved' }
  for (const task of tasks) t.strictSame(stateOf(bench, task), asBefore)
})

t.test('A-084 with a second ledger no hold is given back', async (t) => {
  const { bench, tasks } = await three(t)
  await bench.transact((tx) => {
    const only = account(bench)
    if (only) tx.put(collections.ledgerAccounts, 'led_2', { ...only, ledger_id: 'led_2' })
  })
  const report = await recoverInterrupted(bench.gov, [])
  t.strictSame(report.released, [])
  t.equal(report.leftAlone.length, 3)
  for (const task of tasks) {
    t.strictSame(stateOf(bench, task), { task: 'blocked', money: 'reserved' })
  }
})

t.test('A-124 a contact whose reservation is gone is a liability, not a free ending', async (t) => {
  const { bench, tasks: [gone, never] } = await three(t)
  await bench.transact((tx, now) => {
    for (const task of [gone, never]) {
      tx.remove(collections.openReservations, task.operation_id)
      tx.put(routeCollection, task.operation_id, {
        operation_id: task.operation_id, runtime: 'alpha_text_native', profile: 'alpha.text',
        provider: 'p', model: 'm', url: 'https://127.0.0.1/v1', decision_id: 'dec_1',
        policy_revision: 3, contacted_at: task === gone ? now : null, outcome: null,
      })
    }
  })
  await recoverInterrupted(bench.gov, [])
  t.strictSame(stateOf(bench, gone), { task: 'blocked', money: undefined })
  t.strictSame(stateOf(bench, never), { task: 'failed', money: undefined })
  t.equal(account(bench)?.held_microusd, 200, 'what the ledger held it holds')
})

t.test('guard files of the dead go after recovery, those of the living stay', async (t) => {
  const { bench, tasks: [dead, live] } = await three(t)
  const { dir } = bench.gov.store
  const file = (task: Task): string => join(dir, 'run', 'ops', task.operation_id)
  const held = await holdGuard(dir, live.operation_id)
  closeSync(openSync(file(dead), 'w'))
  const report = await recoverInterrupted(bench.gov, [])
  t.notOk(existsSync(file(dead)))
  t.ok(existsSync(file(live)))
  t.notOk(report.endedTasks.includes(live.task_id), 'the living operation is left to its process')
  t.strictSame(stateOf(bench, live), { task: 'running', money: 'reserved' })
  held.release()
})

t.test('where records of a state were lost a task may have been in contact, unless those were settled before', async (t) => {
  for (const [settled, holes, contacted] of [
    [false, [{ id: 'hole' }], true], [true, [{ id: 'hole' }], false], [false, [], false],
  ] as const) {
    const { bench, tasks: [never] } = await three(t)
    await bench.transact((tx) => tx.remove(collections.openReservations, never.operation_id))
    const seen = new Map<string, boolean>()
    const rule: RecoveryRule = {
      kinds: [never.kind],
      ending: (found) => {
        seen.set(found.task.task_id, found.contacted)
        return defaultEnding(found)
      },
    }
    await settleRestored(bench.gov, { rules: [rule], formers: [
      { view: bench.view(), holes, settled, readable: true, knows: () => true },
    ] })
    t.equal(seen.get(never.task_id), contacted, JSON.stringify([settled, holes]))
  }
})

t.test('a restore goes on past an altered reservation and releases nothing', async (t) => {
  const { bench, tasks: [altered, plain] } = await three(t)
  await alter(bench, altered, { profile: 'alpha.other' })
  await settleRestored(bench.gov)
  t.strictSame(stateOf(bench, altered), { task: 'blocked', money: 'reserved' })
  t.strictSame(stateOf(bench, plain), { task: 'blocked', money: 'unknown' })
  t.hasStrict(account(bench), { held_microusd: 100, unknown_microusd: 200 + 1_000 })
})
