/** The paired edge stands apart: it knows no provider, and it replaces no image folder. */
import t from 'tap'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { serving } from '../support/service/serving.js'
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
      rows: world.rows().map(({ sha256, source }) => ({ sha256, source })),
      again: JSON.parse(must(await world.run(['shots', 'scan', '--json'])).stdout)['ingested'],
    }
  }
  const [without, beside] = [await scanned(false), await scanned(true)]
  t.strictSame(beside, without)
  t.ok(without.rows.length >= 2, 'the same picture as the upload is taken in, too')
})
