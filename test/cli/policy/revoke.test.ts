/** `policy revoke` stops every route whatever else is wrong. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { World } from '../../world/world.js'

t.test('A-071 a revoke stands and says so when leftovers cannot be resolved', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await rig.run(['state', 'compact'])
  const folder = join(rig.place.stateDir, 'collections')
  const name = readdirSync(folder).find((one) => one.startsWith('save_intents.')) ?? ''
  writeFileSync(join(folder, name), 'no document')
  const ran = await rig.run(['policy', 'revoke', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  t.equal(ran.json().state, 'revoked')
  t.match(ran.stderr, 'was not resolved')
  const asked = await rig.ask()
  t.not(asked.status, 0)
  t.equal(rig.inferences().length, 0)
})

t.test('a revoke names the routes that this version has, and no other', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await rig.run(['policy', 'revoke'])
  t.match(ran.stdout, /^Every route is stopped: alpha and gateway \(policy revision \d+\)\.$/m)
  const help = await rig.run(['--help'])
  t.notMatch(help.stdout, /code ?host/i, 'no verb for it exists')
})
