/** How long a proof counts, to the millisecond. */
import t from 'tap'
import { msFromIso } from '../../src/base/clock.js'
import { gatewayLimits } from '../../src/gateway/constants.js'
import { latestProof, proofStateOf } from '../../src/gateway/proof.js'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import { must } from '../support/must.js'
import { World } from '../world/world.js'

t.test('a proof is over at the very moment at which it is a day old, and none counts from too far ahead', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await world.prove('chat'))
  const view = world.view()
  const route = view.get(gatewayCollection, gatewayRouteId) ?? null
  const proof = latestProof(view, 'chat')
  const madeMs = msFromIso(proof?.made_at ?? '')
  const { proofFreshMsMax: fresh, proofAheadMsMax: ahead } = gatewayLimits
  const at = (ms: number) => proofStateOf(route, 'chat', proof, madeMs + ms).reason
  t.strictSame([at(fresh - 1), at(fresh), at(-ahead), at(-ahead - 1)],
    [null, 'older_than_24_hours', null, 'made_in_the_future'])
})
