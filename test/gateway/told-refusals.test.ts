/** What changes between the look and the claim of a proof keeps it unsent, by its code. */
import t from 'tap'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { attemptCollection } from '../../src/gateway/proof.js'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import { renewProof } from '../../src/gateway/prove.js'
import { collections } from '../../src/governance/rows.js'
import { must } from '../support/must.js'
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

t.test('a route that was disabled between the look and the claim is told as that, and claims nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.prove('chat', {
    at: async (step) => {
      if (step === 'prove.begin') must(await rig.run(['gateway', 'setup', '--disable']))
    },
  })
  t.hasStrict(ran.error(), { code: 'gateway_slot_not_ready', reason: 'route_disabled' })
  t.strictSame([rig.view().all(claimCollection), rig.view().all(attemptCollection)], [[], []])
  t.equal(rig.calls().length, 0)
})
