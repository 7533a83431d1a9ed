/** Whoever takes a device back while one of its pictures leaves stops it where it is. */
import { cameraOf, captured, takeIn, type Camera } from '../../support/edge/captured.js'
import { bothEgress, namedCamera, nameDevices, openWorld } from '../../support/edge/naming.js'
import { must } from '../../support/must.js'
import { largeImage } from '../../support/narrowing.js'
import { holdWrites, type HeldWrites } from '../../support/net/held-writes.js'
import { sent } from '../../support/shots.js'
import { t } from '../../support/tests-in-slices.js'
import { until } from '../../support/until.js'

const closings: Readonly<Record<string, (camera: Camera) => readonly string[]>> = {
  'shots setup --devices none': () => ['shots', 'setup', '--json', '--devices', 'none'],
  'edge revoke': ({ id }) => ['edge', 'revoke', id, '--json'],
}

for (const [name, close] of Object.entries(closings)) {
  t.test(`S-021 S-168 nothing more of a capture leaves once ${name} has answered`, async (t) => {
    const world = await openWorld(t)
    const camera = await namedCamera(world)
    await camera.store(largeImage(), 0, { policy: bothEgress })
    await takeIn(world)
    const writes: HeldWrites = holdWrites(t, () => writes.left.length < 3)
    const analyzing = world.run(['shots', 'analyze', '--json'])
    await until('the fourth piece waits', () => writes.begun() > 3)
    must(await world.run([...close(camera)]))
    const answeredMs = performance.now()
    writes.go()
    await analyzing
    t.ok(writes.left.some(({ atMs }) => atMs <= answeredMs), 'it had begun to leave')
    t.notOk(writes.left.some(({ atMs, bytes }) => atMs > answeredMs && bytes > 0))
    t.hasStrict(captured(world)[0], {
      analysis_status: 'failed', payload: null, analyzer: { contact: 'uncertain' },
    })
    const calls = sent(world)
    must(await world.run(['shots', 'analyze', '--json']))
    t.equal(sent(world), calls, 'and it is never sent again')
  })
}

t.test('a save that leaves out another device, or changes none, stops no picture of a device that stays', async (t) => {
  const world = await openWorld(t)
  const [camera, other] = [await namedCamera(world), await cameraOf(world, bothEgress)]
  await nameDevices(world, camera.id, other.id)
  await camera.store(largeImage(), 0, { policy: bothEgress })
  await takeIn(world)
  const writes: HeldWrites = holdWrites(t, () => writes.left.length < 3)
  const analyzing = world.run(['shots', 'analyze', '--json'])
  await until('the fourth piece waits', () => writes.begun() > 3)
  await nameDevices(world, camera.id)
  writes.go()
  t.hasStrict(must(await analyzing).json(), { analyzed: 1 })
})
