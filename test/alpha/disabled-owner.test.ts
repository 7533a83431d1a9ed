/** What a disabled owner owes does not hold a part of the ceiling for ever. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { collections } from '../../src/governance/rows.js'
import { checkLedger } from '../support/ledger.js'
import { limits } from '../world/alpha.js'
import { World } from '../world/world.js'
import { must } from '../support/must.js'

t.test('A-124 A-189 an unknown charge is its owner’s alone until the owner is disabled', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  writeFileSync(rig.place.path('passphrase'), 'another person')
  const secret = ['--passphrase-file', rig.place.path('passphrase')]
  must(await rig.run(['principal', 'add', 'bob', ...secret]))
  must(await rig.run(['login', '--owner', 'bob', ...secret]))
  must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  const asked = await rig.ask()
  t.equal(asked.status, 7)
  const { operation_id: operation, task_id: task } = asked.error().details
  const settle = ['ledger', 'settle', operation, '--amount-microusd', '9', '--yes']

  must(await rig.run(['login', '--owner', 'owner']))
  t.equal((await rig.run(settle)).status, 6, 'a foreign charge does not exist')
  t.strictSame(must(await rig.run(['ledger', 'reservations', '--json'])).json(), [])
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)

  must(await rig.run(['principal', 'disable', 'bob']))
  t.equal(must(await rig.run(['ledger', 'reservations', '--json'])).json().length, 1)
  must(await rig.run(settle))
  t.hasStrict(checkLedger(t, rig), { unknown_microusd: 0, settled_microusd: 9 })
  t.equal((await rig.run(['alpha', 'task', task])).status, 6, 'the task stays foreign')
})

t.test('A-127 a held answer of a disabled owner is dropped by another owner, who alone is left to decide',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    writeFileSync(rig.place.path('passphrase'), 'another person')
    const secret = ['--passphrase-file', rig.place.path('passphrase')]
    must(await rig.run(['principal', 'add', 'bob', ...secret]))
    must(await rig.run(['login', '--owner', 'bob', ...secret]))
    must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
    rig.sandbox.faults.set('billing_overrun', { value: limits.boundMicrousd, times: 1 })
    const { task_id: held } = (await rig.ask()).error().details
    must(await rig.ask())
    const whole = rig.view().all(collections.closedTasks)
      .find(({ doc }) => doc.state === 'succeeded')?.id ?? ''
    const review = (task: string, verdict: string) =>
      rig.run(['task', 'review', task, verdict, '--json'])

    must(await rig.run(['login', '--owner', 'owner']))
    t.equal((await review(held, '--reject')).error().code, 'task_not_found', 'it is its owner’s')
    must(await rig.run(['principal', 'disable', 'bob']))
    for (const verdict of ['--accept-overrun', '--approve']) {
      t.equal((await review(held, verdict)).error().code, 'task_not_found', verdict)
    }
    t.equal((await review(whole, '--reject')).error().code, 'task_not_found', 'it holds nothing')
    must(await review(held, '--reject'))
    t.hasStrict(rig.view().get(collections.closedTasks, held), {
      state: 'failed', reason: 'overrun_rejected',
    })
    t.equal((await rig.run(['alpha', 'task', held])).status, 6, 'the task stays foreign')
    t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
  })
