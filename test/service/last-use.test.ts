/** When a use of a session is noted: seldom, or each request would write a file. */
import t from 'tap'
import { readLastUse } from '../../src/governance/session/last-use.js'
import { touchEveryMs } from '../../src/service/perform.js'
import { must } from '../support/must.js'
import { serving } from '../support/service/serving.js'
import { World } from '../world/world.js'

t.test('a use is noted at most every 30 seconds, whatever is asked', async (t) => {
  const world = await World.still(t).state().session()
  const at = await serving(t, world)
  const { id: root } = must(await world.run(['session', 'show', '--json'])).json().root
  const noted = () => readLastUse(world.place.stateDir, root)
  await at.get('/api/session')
  const begun = noted()
  t.equal(begun, world.clock.wallMs(), 'the first use is noted')
  t.equal(touchEveryMs, 30_000)
  // The second is an operator's look at what a device sent, which is no operation of operators.
  const paths = ['/api/session', '/api/edge/artifacts/edge_art_x']
  world.clock.advance(touchEveryMs - 1)
  for (const path of paths) await at.ask('GET', path)
  t.equal(noted(), begun)
  // Who asks is looked up before a body is read, too: that look is no use by itself.
  t.equal((await at.ask('POST', '/api/policy/revoke', { body: '{' })).status, 400)
  t.equal((await at.ask('POST', '/api/work-board/tasks', { body: '{}' })).status, 400)
  t.equal(noted(), begun)
  for (const path of paths) {
    world.clock.advance(touchEveryMs)
    await at.ask('GET', path)
    t.equal(noted(), world.clock.wallMs(), path)
  }
})

t.test('a session that is used all the time does not end as idle, however short its idle time is', async (t) => {
  const world = await World.still(t).state().session()
  must(await world.run(['login', '--replace', '--idle', '20s']))
  const at = await serving(t, world)
  for (let n = 0; n < 12; n += 1) {
    await at.get('/api/session')
    world.clock.advance(5_000)
  }
  world.clock.advance(15_000)
  t.equal((await at.ask('GET', '/api/session')).status, 401, 'one that is not used does')
})
