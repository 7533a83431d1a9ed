/** Facts of the route that no save lets come about: each is denied by its own name all the same. */
import t from 'tap'
import { deploymentProfile } from '../../src/governance/profile.js'
import { judge, type Phase } from '../../src/governance/judge/fact.js'
import { momentOf } from '../../src/governance/judge/moment.js'
import { routePlaces } from '../../src/fabric/places.js'
import {
  gatewayDenials, gatewayFacts, gatewayRoute, type CallCase, type GatewayFacts,
} from '../../src/gateway/readiness.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute } from '../../src/gateway/setup.js'
import { World } from '../world/world.js'

const use = { slot: 'chat', purpose: 'gateway.chat' } as const
const ofCall = ['preflight', 'contact', 'adopt'] as const

/** The facts of a route as it is saved, and a call through it that was claimed just now. */
const saved = async (t: Parameters<typeof World.in>[0]) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  const { gov } = world
  const view = world.view()
  const { gateway: place } = routePlaces(gov)
  const route = view.get(gatewayCollection, gatewayRouteId)
  const setup = route?.slots.chat
  if (route === undefined || setup === undefined || setup === null) throw new Error('it is set up')
  const call: CallCase = {
    moment: momentOf(gov, view), reserved: place.reserved, operationId: 'op_one', principal: 'prn',
    root: null, grantId: route.grant_id, baseUrl: route.api_base, url: route.api_base,
    keyFingerprint: route.credential_fingerprint ?? '', setup, boundMicrousd: 1, requestMs: 1_000,
    request: {}, route: undefined,
  }
  const names = (facts: GatewayFacts, of: CallCase, phase: Phase): readonly string[] =>
    judge(gatewayRoute, { facts, use, call: of }, phase).map(({ name }) => name)
  const { model_id: model } = deploymentProfile(gov.store).provider
  return { facts: gatewayFacts(gov, view, place), route, setup, call, names, model }
}

t.test('a call by a set-up that names the text capability, or by no route at all, is denied', async (t) => {
  const { facts, route, setup, call, names, model } = await saved(t)
  const withRoute = (change: Partial<GatewayRoute>): GatewayFacts =>
    ({ ...facts, route: { ...route, ...change } })
  const foreign = call.reserved.credentialRef as GatewayRoute['credential_ref']
  const broken: Readonly<Record<string, readonly [GatewayFacts, CallCase]>> = {
    route_missing: [{ ...facts, route: null }, call],
    selector_refused: [facts, { ...call, setup: { ...setup, model: `gateway/${model}` } }],
    credential_refused: [withRoute({ credential_ref: foreign }), call],
  }
  for (const [name, [itsFacts, itsCall]] of Object.entries(broken)) {
    for (const phase of ofCall) {
      t.notOk(names(facts, call, phase).includes(name), `${name}: it holds as it was saved`)
      t.ok(names(itsFacts, itsCall, phase).includes(name), `${name}: ${phase}`)
    }
  }
})

t.test('a slot whose bound is above the ceiling is not ready, and says so', async (t) => {
  const { facts, route, setup } = await saved(t)
  const chat = { ...setup, request_cost_bound_microusd: route.spend_ceiling_microusd + 1 }
  const above = { ...facts, route: { ...route, slots: { ...route.slots, chat } } }
  for (const phase of ['status', 'admit'] as const) {
    t.strictSame(gatewayDenials(facts, use, phase), [])
    t.strictSame(gatewayDenials(above, use, phase).map(({ name }) => name),
      ['request_bound_above_ceiling'])
  }
})
