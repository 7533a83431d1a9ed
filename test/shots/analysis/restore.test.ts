/** What brings blocked images back. */
import t from 'tap'
import { setCeiling } from '../../../src/governance/ledger/account.js'
import { balances } from '../../../src/governance/ledger/find-reservation.js'
import { reasonHolds } from '../../../src/shots/analysis/restore.js'
import { imageBound, routeStatusOf } from '../../../src/shots/gates.js'
import { savedSettings } from '../../../src/shots/source/settings.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { World } from '../../world/world.js'

t.test('an image waits for room under the ceiling no longer than until its bound fits to the last micro-USD', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const ctx = world.ctx('write')
  const standing = routeStatusOf(ctx, world.view())
  if (standing.route === null) throw new Error('it is set up')
  const bound = imageBound(savedSettings(world.view()), standing.route.setup)
  const waits = async (above: number): Promise<boolean | null> => {
    await world.transact((tx, now) => {
      const { available_microusd: left, ceiling_microusd: ceiling } = balances(tx)
      setCeiling(tx, now, ceiling - left + bound + above)
    })
    return reasonHolds(ctx, world.view(), standing)('ceiling_exceeded')
  }
  t.equal(await waits(-1), true)
  t.equal(await waits(0), false)
})
