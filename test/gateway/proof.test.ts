/** Which proof counts, and how long, to the millisecond. */
import t from 'tap'
import { msFromIso } from '../../src/base/clock.js'
import { gatewayLimits } from '../../src/gateway/constants.js'
import { latestProof, proofCollection, proofStateOf } from '../../src/gateway/proof.js'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import { Memory } from '../support/governance/memory.js'
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

t.test('of several proofs that of the last attempt counts, whatever the clock said', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await world.prove('chat'))
  const proof = latestProof(world.view(), 'chat')
  if (proof === undefined) throw new Error('there is none')
  const memory = new Memory()
  memory.transact((tx) => {
    for (const [id, attempt] of [['prf_c', 1], ['prf_a', 3], ['prf_b', 2]] as const) {
      tx.put(proofCollection, id, { ...proof, proof_id: id, attempt })
    }
  })
  t.equal(latestProof(memory.view(), 'chat')?.proof_id, 'prf_a')
})
