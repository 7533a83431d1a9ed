/** What is archived as stale, when the folder that is in force changes meanwhile. */
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { clearStale } from '../../src/shots/clear-stale.js'
import { anchorOf } from '../support/anchor.js'
import { betweenLookAndRecord } from '../support/between.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { World } from '../world/world.js'

t.test('S-164 images of a folder that is in force again by the time of the record are not archived', async (t) => {
  const world = await World.in(t).state().session().images()
  const { folder } = world
  const other = world.place.path('other')
  mkdirSync(other)
  await world.put(observationOf(folder, 'a.png', { analysis_status: 'pending' }))
  const name = async (one: string) =>
    must(await world.run(['shots', 'config', 'set', '--folder', one]))
  await name(other)
  const ctx = world.ctx('write')
  const gov = betweenLookAndRecord(ctx.gov, () => name(folder))
  t.hasStrict(await clearStale({ ...ctx, gov }, world.session()), { archived: 0 })
  t.strictSame(world.rows().map(({ archived_at: at }) => at), [null])
  await name(other)
  const before = anchorOf(world.place)
  t.hasStrict(await clearStale(world.ctx('write'), world.session()), { archived: 1 })
  const moved = anchorOf(world.place)
  t.not(moved, before, 'no old copy of the state forgets it')
  t.hasStrict(await clearStale(world.ctx('write'), world.session()), { archived: 0 })
  t.equal(anchorOf(world.place), moved)
})
