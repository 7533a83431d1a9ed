/** What stays true of a task after a person has settled its charge by hand. */
import t, { type Test } from 'tap'
import { alphaDecisions } from '../../src/alpha/decisions.js'
import { getJob } from '../../src/governance/board/visible-tasks.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { holdUnread } from '../../src/governance/ledger/unread.js'
import { collections, type Task } from '../../src/governance/rows.js'
import type { Tx } from '../../src/state/types.js'
import { newestTask } from '../support/board.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { limits } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

t.test('A-113 A-123 a manual settlement reaches the receipt, and the task stays blocked',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
    const asked = await rig.ask()
    const { task_id: task, operation_id: operation } = asked.error().details
    await rig.run(['ledger', 'settle', operation, '--amount-microusd', '1840', '--yes'])
    checkLedger(t, rig)
    const shown = (await rig.run(['alpha', 'task', task, '--json'])).json()
    const row = rig.view().all(collections.ledgerRows).map(({ doc }) => doc)
      .find(({ kind }) => kind === 'manual_settle')
    t.strictSame(shown.receipt.cost, {
      source: 'manual_operator_settlement', amount_microusd: 1840, state: 'settled',
      ledger_ref: row?.row_id,
    })
    t.equal(shown.receipt.result_artifact_id, undefined)
    t.equal(shown.task.state, 'blocked')
    t.equal((await rig.run(['alpha', 'output', task])).status, 7)
    t.equal((await rig.run(['alpha', 'review', task, '--approve'])).status, 7)
    t.equal((await rig.run(['state', 'check', '--json'])).status, 0)
  })

t.test('A-113 a repeat under the key of a settled charge says what is left to do, and that works',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
    const args = ['--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10']
    const first = (await rig.ask({ args })).error()
    const { task_id: task, operation_id: operation } = first.details
    t.match(first.next[0]?.command, `sallyport ledger settle ${operation}`)
    await rig.run(['ledger', 'settle', operation, '--amount-microusd', '1840', '--yes'])
    const again = await rig.ask({ args })
    t.equal(again.status, 7)
    t.notMatch(again.error().message, 'held')
    t.hasStrict(again.error(), {
      code: 'ask_blocked', reason: first.reason, details: { task_id: task },
    })
    t.strictSame(again.error().next.map(({ command }: { command: string }) => command),
      [`sallyport task close ${task}`])
    t.equal((await rig.run(['task', 'close', task])).status, 0)
    t.equal(rig.inferences().length, 1)
    checkLedger(t, rig)
  })

t.test('A-127 a repeat under the key of a charge that passed its bound names its review first, and that works',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
    const args = ['--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10']
    const { task_id: task, operation_id: operation } = (await rig.ask({ args })).error().details
    must(await rig.run(['ledger', 'settle', operation, '--yes', '--amount-microusd',
      String(limits.boundMicrousd + 1)]))
    const next = async () => {
      const again = await rig.ask({ args })
      t.strictSame([again.status, again.error().code], [7, 'ask_blocked'])
      return again.error().next.map(({ command }: { command: string }) => command)
    }
    t.strictSame(await next(), [`sallyport ledger review ${operation}`])
    must(await rig.run(['ledger', 'review', operation, '--reject']))
    t.strictSame(await next(), [`sallyport task close ${task}`])
    must(await rig.run(['task', 'close', task]))
    t.equal(rig.inferences().length, 1)
  })

/** What a repair may have lost of an ask: rows of blocks that nobody can read. */
const losses: Readonly<Record<string, (tx: Tx, task: Task) => void>> = {
  job: (tx, { job_id: id }) => tx.remove(collections.jobs, id),
  task: (tx, { task_id: id }) => tx.remove(collections.openTasks, id),
  question: (tx, { input_artifact_id: id }) => tx.remove(collections.artifacts, id),
}

const asked = async (
  t: Test, fault: 'billing_status_500' | 'billing_overrun',
): Promise<{ rig: AlphaWorld; task: Task }> => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set(fault, {
    service: 'provider', ...(fault === 'billing_overrun' ? { value: limits.boundMicrousd } : {}),
  })
  t.equal((await rig.ask()).status, 7)
  return { rig, task: newestTask(rig) }
}

for (const [what, lose] of Object.entries(losses)) {
  t.test(`where the ${what} of an ask is lost its charge is settled all the same, and the task is closed`,
    async (t) => {
      const { rig, task } = await asked(t, 'billing_status_500')
      await rig.transact((tx) => lose(tx, task))
      const { operation_id: operation, task_id: id } = task
      must(await rig.run(['ledger', 'settle', operation, '--amount-microusd', '1840', '--yes']))
      t.hasStrict(checkLedger(t, rig), { settled_microusd: 1840, unknown_microusd: 0 })
      if (what === 'task') return
      if (what === 'question') {
        t.equal(getJob(rig.view(), task).receipt, null, 'no receipt says that it is unknown')
        const { code, message } = (await rig.run(['receipt', 'export', id, '--json'])).error()
        t.strictSame([code, /are lost/.test(message)], ['no_receipt', true])
      }
      t.hasStrict(must(await rig.run(['task', 'close', id, '--json'])).json(), { state: 'failed' })
    })

  t.test(`A-127 where the ${what} of an ask is lost its overrun is rejected all the same`,
    async (t) => {
      const { rig, task } = await asked(t, 'billing_overrun')
      await rig.transact((tx) => lose(tx, task))
      const before = what === 'question' ? getJob(rig.view(), task).receipt : null
      must(await rig.run(['ledger', 'review', task.operation_id, '--reject']))
      t.equal(findReservation(rig.view(), task.operation_id)?.overrun, 'rejected')
      if (what !== 'task') t.hasStrict(newestTask(rig), { state: 'failed' })
      if (what === 'question') {
        t.ok(before)
        t.strictSame(getJob(rig.view(), newestTask(rig)).receipt, before, 'what was told stands')
      }
      checkLedger(t, rig)
    })
}

t.test('a settlement that no receipt can be built for takes no answer out of reach', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const task = newestTask(rig)
  const charge = findReservation(rig.view(), task.operation_id)
  await rig.transact((tx, now) => {
    tx.remove(collections.artifacts, task.input_artifact_id)
    if (charge !== undefined) alphaDecisions.settledByHand?.(rig.gov, tx, now, charge)
  })
  t.ok(charge)
  must(await rig.run(['alpha', 'output', task.task_id]))
})

t.test('a task whose charge is lost is closed once what was unread is settled', async (t) => {
  const { rig, task: { task_id: task, operation_id: operation } } =
    await asked(t, 'billing_status_500')
  await rig.transact((tx, now) => {
    tx.remove(collections.openReservations, operation)
    holdUnread(tx, now, { hole: { id: 'lost' }, former: tx, amount: 5 })
  })
  const close = ['task', 'close', task, '--json']
  const open = await rig.run(close)
  t.strictSame([open.status, open.error().code], [7, 'charge_open'])
  t.equal(open.error().next[0]?.command, 'sallyport ledger reservations')
  const [unread, ...more] = await rig.json(['ledger', 'reservations'])
  t.strictSame(more, [])
  must(await rig.run(['ledger', 'settle', unread.operation_id, '--amount-microusd', '5', '--yes']))
  t.hasStrict(must(await rig.run(close)).json(), { state: 'failed' })
})

t.test('A-127 an answer whose charge is lost is rejected, and never accepted', async (t) => {
  const { rig, task: { task_id: task, operation_id: operation } } =
    await asked(t, 'billing_overrun')
  await rig.transact((tx) => tx.remove(collections.openReservations, operation))
  const review = (verdict: string) => rig.run(['task', 'review', task, verdict, '--json'])
  t.equal((await review('--accept-overrun')).error().code, 'reservation_not_found')
  const { receipt } = getJob(rig.view(), newestTask(rig))
  t.hasStrict(must(await review('--reject')).json(), { state: 'failed' })
  t.ok(receipt)
  t.strictSame(getJob(rig.view(), newestTask(rig)).receipt, receipt, 'the amount is still told')
  t.equal((await rig.run(['alpha', 'output', task])).status, 5)
})

t.test('A-127 an ask for which a disputed charge leaves no room is told to review it first', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('billing_overrun', { service: 'provider', value: 960_000, times: 1 })
  const { operation_id: operation } = (await rig.ask()).error().details
  const refused = await rig.ask()
  t.strictSame([refused.status, refused.error().code], [8, 'ceiling_exceeded'])
  t.equal(refused.error().next[0]?.command, `sallyport ledger review ${operation}`)
  await rig.run(['ledger', 'review', operation, '--reject'])
  t.equal((await rig.ask()).error().next[0]?.command, 'sallyport ledger show')
  t.equal(rig.inferences().length, 1)
  checkLedger(t, rig)
})

t.test('A-189 an altered row does not make one answer the result of another task', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await rig.ask()
  const second = (await rig.ask()).json()
  const store = rig.open('write')
  const view = store.read()
  const other = view.all(collections.artifacts).map(({ doc }) => doc)
    .find(({ label, task_id: of }) => label.includes('answer') && of !== second.task.id)
  const task = view.get(collections.closedTasks, second.task.id)
  if (!other || !task) throw new Error('there are not two answers')
  await store.transact('forge', (tx) => tx.put(collections.closedTasks, task.task_id, {
    ...task, result_artifact_id: other.artifact_id,
  }))
  const ran = await rig.run(['alpha', 'output', second.task.id, '--json'])
  t.strictSame([ran.status, ran.stdout, ran.error().code], [12, '', 'result_mismatch'])
  await store.transact('forge', (tx) => {
    tx.put(collections.closedTasks, task.task_id, task)
    const job = tx.get(collections.jobs, task.job_id)
    if (job) {
      const receipt = { ...job.receipt as object, output_digest: '0'.repeat(64) }
      tx.put(collections.jobs, job.job_id, { ...job, receipt })
    }
  })
  const again = await rig.run(['alpha', 'output', second.task.id, '--json'])
  t.strictSame([again.stdout, again.error().code], ['', 'result_mismatch'], 'nor its receipt')
})
