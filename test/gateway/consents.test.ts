/** Which consents of the gateway stand. */
import t from 'tap'
import { gatewayConsents } from '../../src/gateway/consents.js'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import { momentOf } from '../../src/governance/judge/moment.js'
import { dropLastWitness } from '../support/drop-witness.js'
import { forImages } from '../world/gateway.js'
import { World } from '../world/world.js'

t.test('no consent of the gateway stands under a policy that its witness does not vouch for', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages)
  const lapses = () => {
    const view = world.gov.store.read()
    const reader = gatewayConsents(
      momentOf(world.gov, view), view.get(gatewayCollection, gatewayRouteId) ?? null)
    return [reader.egress().lapse, reader.purpose('gateway.vision').lapse]
  }
  t.strictSame(lapses(), [null, null])
  dropLastWitness(world.place)
  t.strictSame(lapses(), ['not_current', 'not_current'])
})
