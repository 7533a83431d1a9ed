/** What a device says of its spool, between the look at the rows and the record. */
import t from 'tap'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { keepSpoolTold } from '../../src/edge/spool-told.js'
import { betweenLookAndRecord } from '../support/between.js'
import { pairDevice } from '../support/edge/uploading.js'
import { signIn } from '../support/tasks.js'
import { World } from '../world/world.js'

t.test('S-195 of two numbers of evictions that are told at once the higher one stays', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { party } = await pairDevice(world.gov, session)
  const overtaken = betweenLookAndRecord(world.gov, () =>
    keepSpoolTold(world.gov, party, { evictions: 7 }))
  t.hasStrict(await keepSpoolTold(overtaken, party, { evictions: 3 }), { spool: { evictions: 7 } })
  const row = world.view().get(edgeCollections.devices, party.device.device_id)
  t.equal(row?.spool?.evictions, 7)
})
