/** What the service answers over a state whose newest rows cannot be read. */
import { statSync } from 'node:fs'
import { edgeEndpoints } from '../../src/service/edge-endpoints.js'
import { routes } from '../../src/service/routes/table.js'
import { must } from '../support/must.js'
import { pairOver } from '../support/service/devices.js'
import { askPage, openPage } from '../support/service/paging.js'
import { serving, takesNothingIn, type Got } from '../support/service/serving.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import type { Placed } from '../world/world.js'
import { World } from '../world/world.js'

/** One bit of the record that was written last. */
const damage = ({ place }: Placed): void => {
  const log = newestLog(place.stateDir)
  flipBit(log, statSync(log).size - 80, 1)
}

const told = (got: Got): readonly unknown[] => [got.status, got.json().error?.code]
const damaged = [500, 'log_ambiguous']

/** A path with something in the place of each id. */
const pathOf = (path: string): string => path.replace(/\{\w+\}/g, 'task_none')

t.test('no route but the stop of everything answers from a damaged state, neither of operators nor of devices nor of the page', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world, {
    page: world.session().root.root_id, takesIn: takesNothingIn,
  })
  const { credential } = await pairOver(world, at)
  const token = await openPage(at)
  must(await world.run(['goal', 'add', 'water']))
  damage(world)
  // A service that had read the record before it was hurt still knows what it said.
  await until('the damage is seen', async () => (await at.ask('GET', '/api/status')).status === 500)
  const stop = 'POST /api/policy/revoke'
  let asked = 0
  for (const { method, path, body } of routes) {
    if (`${method} ${path}` === stop) continue
    asked += 1
    const got = await at.ask(method, pathOf(path), body === null ? {} : { body: {} })
    t.strictSame(told(got), damaged, `${method} ${path}`)
    const wrong = await at.ask(method, `${pathOf(path)}?x=1`, body === null ? {} : { body: {} })
    t.strictSame(told(wrong), damaged, `${path}: who asks is judged before what is asked`)
  }
  t.ok(asked > 40, `${asked} routes were asked`)
  for (const { method, path, described } of edgeEndpoints) {
    for (const by of described?.by ?? []) {
      const given = by === 'device' ? credential : at.token()
      t.strictSame(told(await at.ask(method, pathOf(path), { token: given })), damaged, path)
    }
  }
  const code = { code: 'x'.repeat(22), device_name: 'phone' }
  const paired = await at.ask('POST', '/api/edge/pairings', { token: null, body: code })
  t.strictSame(told(paired), damaged)
  t.strictSame(told(await at.ask('POST', '/api/page/offers')), damaged)
  for (const [method, path] of [
    ['GET', '/api/overview'], ['GET', '/api/page/day'], ['POST', '/api/page/report'],
    ['GET', '/api/shots/observations/obs_none/picture'],
  ] as const) {
    t.strictSame(told(await askPage(at, method, path, { token })), damaged, path)
  }
  t.equal((await at.ask('GET', '/healthz', { token: null })).status, 200)
  t.equal((await at.ask('POST', '/api/policy/revoke')).status, 200, 'a stop needs no sound state')
  must(await world.run(['state', 'repair']))
  t.equal((await at.ask('GET', '/api/status')).status, 200, 'what was repaired is answered from')
})

t.test('over a damaged state no service starts', async (t) => {
  const world = await World.in(t).state().session()
  const first = await serving(t, world)
  await first.stop()
  must(await world.run(['goal', 'add', 'water']))
  damage(world)
  await t.rejects(serving(t, world), { kind: 'damaged', code: 'log_ambiguous' })
})
