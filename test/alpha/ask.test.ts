import t from 'tap'
import { checkLedger } from '../support/ledger.js'
import { question } from '../world/alpha.js'
import { World } from '../world/world.js'

t.test('A-001 A-003 A-019 one ask sends one inference and one billing request', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await rig.ask()
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.inferences().length, 1)
  t.equal(rig.billings().length, 1)
  const body = JSON.parse(rig.inferences()[0]?.body.toString() ?? '')
  t.strictSame(body.messages, [{ role: 'user', content: question }])
  t.strictSame(rig.sandbox.log.violations(), [])
  checkLedger(t, rig)
})
