/** What changes between the look and the claim of a proof keeps it unsent, by its code. */
import t from 'tap'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import { renewProof } from '../../src/gateway/prove.js'
import { collections } from '../../src/governance/rows.js'
import { codeOfWaited } from '../support/refused.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

t.test('a slot that was cleared and a proof that another process renewed are not paid for', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const calls = world.calls().length
  const { gateway } = world.ctx('write')
  const principal = world.view().all(collections.principals)[0]?.id ?? ''
  const order = { slot: 'screenshot', purpose: 'gateway.vision', principal } as const
  t.equal(await codeOfWaited(() => renewProof(gateway, { ...order, onlyIf: () => false })),
    'proof_not_due')
  const ran = await world.run(['gateway', 'prove', 'screenshot', '--json'], {
    at: async (step) => {
      if (step !== 'prove.begin') return
      await world.transact((tx) => tx.remove(gatewayCollection, gatewayRouteId))
    },
  })
  t.strictSame([ran.status, ran.error().code], [4, 'gateway_not_set_up'])
  t.equal(world.calls().length, calls)
})
