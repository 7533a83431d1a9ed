/** The paired edge stands apart: it knows no provider, and it replaces no image folder. */
import { readFileSync } from 'node:fs'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

t.test('S-029 pairing, upload and readback contact no provider, and help calls the path partial', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway().images(allowed)
  const at = await serving(t, world)
  const before = world.sandbox.log.all().length
  const { credential } = await pairOver(world, at)
  const body = image(1)
  const sent = await sendOver(at, credential, body, headOf(body, 1))
  t.equal(sent.status, 201)
  const path = `/api/edge/artifacts/${String(sent.json().artifact_id)}`
  for (const place of [path, `${path}/bytes`]) {
    t.equal((await at.ask('GET', place, { token: credential })).status, 200)
  }
  must(await world.run(['edge', 'artifacts']))
  t.equal(world.sandbox.log.all().length, before, 'to nobody at all')
  must(await world.ask())
  t.ok(world.sandbox.log.all().length > before, 'a question would have been seen')
  t.match(must(await world.run(['edge', 'pair', '--help'])).stdout, /partial/)
})

t.test('S-044 a scan of the image folder comes to the same with a paired device and without one', async (t) => {
  const scanned = async (paired: boolean) => {
    const world = await World.in(t).state().session().images()
    for (const [at, n] of [1, 2, 2].entries()) world.file(`${at}.png`, image(n))
    world.file('none.png', Buffer.from('no picture'))
    if (paired) {
      const at = await serving(t, world)
      const { credential } = await pairOver(world, at)
      const body = image(1)
      t.equal((await sendOver(at, credential, body, headOf(body, 1))).status, 201)
    }
    const { stdout } = must(await world.run(['shots', 'scan', '--json']))
    const { scanned, ingested, duplicates, suppressed, rejected, deferred } = JSON.parse(stdout)
    return {
      counts: { scanned, ingested, duplicates, suppressed, rejected, deferred },
      rows: world.rows().filter(({ edge }) => edge === undefined)
        .map(({ sha256, source }) => ({ sha256, source })),
      again: JSON.parse(must(await world.run(['shots', 'scan', '--json'])).stdout)['ingested'],
    }
  }
  const [without, beside] = [await scanned(false), await scanned(true)]
  t.strictSame(beside, without)
  t.ok(without.rows.length >= 2, 'the same picture as the upload is taken in, too')
})

t.test('whoever ends the pairing of another owner is told that it ended, and nothing of what its device sent, by verb and by route', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { place } = world
  const [phrase, token] = [place.write('phrase', 'a long passphrase'), place.path('bob')]
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', phrase]))
  must(await world.run(
    ['login', '--owner', 'bob', '--passphrase-file', phrase, '--token-file', token]))
  const bob = readFileSync(token, 'utf8').trim()
  const revoked = async (by: 'verb' | 'route', id: string, as: string) => (by === 'route'
    ? (await at.ask('POST', `/api/edge/devices/${id}/revoke`, { token: as })).json()
    : JSON.parse(must(await world.run(
      ['edge', 'revoke', id, '--json'], { env: { SALLYPORT_SESSION: as } })).stdout))
  const untold = {
    last_sequence: null, last_upload_at: null, stored: null, limits: null, spool_evictions: null,
    spool_told_at: null,
  }
  for (const by of ['verb', 'route'] as const) {
    const { credential, device_id: id } = await pairOver(world, at)
    const body = image(1)
    t.equal((await sendOver(at, credential, body, headOf(body, 7))).status, 201)
    const foreign = await revoked(by, id, bob)
    t.hasStrict(foreign, { ended: true, device: { device_id: id, revoked: true, ...untold } }, by)
    t.hasStrict(await revoked(by, id, bob), { ended: false, device: untold }, 'nor later')
    t.hasStrict(await revoked(by, id, at.token()), {
      ended: false, device: { last_sequence: 7, stored: { items: 1, bytes: body.length } },
    }, 'her own are told to her')
  }
})
