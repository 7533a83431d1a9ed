/** What a disabled owner owes does not hold a part of the ceiling for ever. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
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
