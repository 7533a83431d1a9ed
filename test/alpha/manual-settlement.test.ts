/** What stays true of a task after a person has settled its charge by hand. */
import t from 'tap'
import { collections } from '../../src/governance/rows.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { limits } from '../world/alpha.js'
import { World } from '../world/world.js'

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
