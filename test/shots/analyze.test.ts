import t from 'tap'
import { bodyOf } from '../gateway/rig.js'
import { greyPng, makeGatewayWorld } from './rig.js'

t.setTimeout(120_000)

t.test('S-149 S-160 a pending image is analysed', async (t) => {
  const world = await makeGatewayWorld(t)
  world.file('a.png', greyPng(64, 48, 1))
  const scan = await world.run(['shots', 'scan', '--json'])
  t.equal(scan.status, 0, scan.stderr)
  t.equal(world.rows()[0]?.analysis_status, 'pending')
  const none = await world.run(['shots', 'analyze', '--json'])
  t.equal(none.status, 7, none.stderr)
  t.equal((await world.rig.prove('screenshot')).status, 0)
  const ran = await world.run(['shots', 'analyze', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  t.comment(ran.stdout)
  t.equal(world.rows()[0]?.analysis_status, 'succeeded')
  t.equal(bodyOf(world.rig.calls().at(-1)).model, 'acme/screenshot-1')
  const check = await world.run(['state', 'check', '--json'])
  t.equal(check.status, 0, check.stdout)
})
