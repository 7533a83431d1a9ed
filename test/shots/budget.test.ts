/** The day's budget: what is spent, what is held, and what a bill changes in it. */
import t from 'tap'
import { greyPng, makeGatewayWorld } from './rig.js'

t.setTimeout(120_000)

t.test('S-124 an unknown charge is held in the day of the budget until its bill is recorded', async (t) => {
  const world = await makeGatewayWorld(t)
  t.equal((await world.rig.prove('screenshot')).status, 0)
  world.file('a.png', greyPng(64, 48, 1))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  const budget = async () =>
    (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  const before = await budget()
  t.equal(before.held_microusd, 0)
  world.rig.sandbox.faults.set('no_cost', { service: 'gateway', times: 1 })
  await world.run(['shots', 'analyze', '--json'])
  const held = await budget()
  t.match(held, {
    settled_microusd: before.settled_microusd, held_microusd: 100_000,
    requests: before.requests + 1,
  })
  const text = await world.run(['shots', 'status'])
  t.match(text.stdout, `${before.settled_microusd} spent, 100000 held, of 1000000 micro-USD; `)

  const operation = world.rows()[0]?.analyzer.operation_id ?? ''
  const settle = await world.run([
    'ledger', 'settle', operation, '--amount-microusd', '1840', '--yes', '--json',
  ])
  t.equal(settle.status, 0, settle.stderr)
  t.match(await budget(), {
    settled_microusd: before.settled_microusd + 1840, held_microusd: 0, requests: held.requests,
  })
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})
