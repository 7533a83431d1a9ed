/** What a device says of its own spool: kept, only ever growing, and shown to its owner. */
import { image } from '../support/png.js'
import { must } from '../support/must.js'
import { headOf, offered, pairOver, sendOver } from '../support/service/devices.js'
import { serving, type Got } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const path = '/api/edge/pairing/spool'
const outcome = (got: Got): unknown => [got.status, got.json().error?.code]

t.test('S-039 S-195 the number of evictions that a device tells only grows, is kept over uploads and restores, '
  + 'and is shown with its device alone', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const [one, other] = [await pairOver(world, at), await pairOver(world, at)]
  const tell = (body: unknown, token: string | null = one.credential) =>
    at.ask('POST', path, { token, body })
  const listed = async () => Object.fromEntries(
    JSON.parse(must(await world.run(['edge', 'list', '--json'])).stdout)
      .map((device: { device_id: string; spool_evictions: number | null }) =>
        [device.device_id, device.spool_evictions]))
  const none = await at.ask('GET', '/api/edge/pairing', { token: one.credential })
  t.equal(none.json().spool_evictions, null)
  for (const [told, kept] of [[3, 3], [3, 3], [2, 3], [7, 7]]) {
    const got = await tell({ evictions: told })
    t.strictSame([got.status, got.json().spool_evictions], [200, kept])
  }
  const { sequence } = world.view()
  t.equal((await tell({ evictions: 7 })).status, 200)
  t.equal(world.view().sequence, sequence, 'what is no news is not written')
  t.equal((await sendOver(at, one.credential, image(1), headOf(image(1), 1))).status, 201)
  const { device_id: id } = one
  t.strictSame(await listed(), { [id]: 7, [other.device_id]: null })
  t.match(must(await world.run(['edge', 'list'])).stdout, /none told\t[^]*\n.*\t7\t/)

  must(await world.run(['state', 'backup', world.place.path('old')]))
  t.equal((await tell({ evictions: 9 })).status, 200)
  must(await world.run(['state', 'restore', world.place.path('old'), '--yes']))
  must(await world.run(['login']))
  t.strictSame(await listed(), { [id]: 9, [other.device_id]: null })
  const { devices } = await at.get('/api/overview')
  t.hasStrict(devices.find((device: { device_id: string }) => device.device_id === id),
    { spool_evictions: 9 })
})

t.test('S-195 S-196 S-198 a number of evictions that is none, and one of whom the pairing is not, '
  + 'changes nothing', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { credential, device_id: id } = await pairOver(world, at)
  await offered(world, at)
  const { sequence } = world.view()
  for (const body of [
    {}, { evictions: 0 }, { evictions: -1 }, { evictions: 1.5 }, { evictions: 2 ** 53 },
    { evictions: '1' }, { evictions: null }, { evictions: [1] }, { evictions: 1, device_id: id },
    '{"evictions":1,"evictions":2}', '{"evictions":1.0}', '{"evictions":1e0}', '[]', '1', '',
    `{"evictions":1${' '.repeat(70_000)}}`,
  ]) {
    const got = await at.ask('POST', path, { token: credential, body })
    t.ok([400, 413].includes(got.status), `${JSON.stringify(body).slice(0, 40)}: ${got.status}`)
  }
  const typed = await at.ask('POST', path, {
    token: credential, body: { evictions: 1 }, headers: { 'Content-Type': 'text/plain' },
  })
  t.equal(typed.status, 415)
  for (const token of [null, at.token(), `spe_${'A'.repeat(43)}`]) {
    t.equal((await at.ask('POST', path, { token, body: { evictions: 1 } })).status, 401)
  }
  t.equal(world.view().sequence, sequence)
  must(await world.run(['edge', 'revoke', id]))
  const got = await at.ask('POST', path, { token: credential, body: { evictions: 1 } })
  t.strictSame(outcome(got), [401, 'edge_credential_revoked'])
})

t.test('S-039 what a full spool had to let go is told by its daemon to the owner of the service', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { place } = world
  const line = place.write('pairing', `${await offered(world, at)}\n`)
  const env = { SALLYPORT_EDGE_DIR: place.path('device') }
  const capture = async (n: number) => {
    must(await place.spawn(['edge', 'capture', place.write(`${n}.png`, image(n))], { env }))
  }
  await capture(1)
  place.write('device/settings.json', JSON.stringify({ limits: { max_items: 1 } }))
  for (const n of [2, 3]) await capture(n)
  must(await place.spawn(['edge', 'daemon', '--once', '--pair-file', line], { env }))
  const [device] = JSON.parse(must(await world.run(['edge', 'list', '--json'])).stdout)
  t.hasStrict(device, { spool_evictions: 2, stored: { items: 1 } })
  t.matchStrict(device.spool_told_at, /^\d{4}-/)
})
