/** What a call holds, and what it asks of its slot in the record that claims it. */
import t from 'tap'
import { silentObserver } from '../../../src/base/observer.js'
import { gatewayContext } from '../../../src/fabric/places.js'
import { sendCall } from '../../../src/gateway/call/send.js'
import { gatewayCollection, gatewayRouteId } from '../../../src/gateway/setup.js'
import { findReservation } from '../../../src/governance/ledger/find-reservation.js'
import { ContactError } from '../../../src/net/contact-error.js'
import { World } from '../../world/world.js'

t.test('a call holds no more than the bound of its slot, whatever its job had read before', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  const slot = world.view().get(gatewayCollection, gatewayRouteId)?.slots.chat
  const bound = slot?.request_cost_bound_microusd ?? 0
  const session = world.session()
  const held: unknown[] = []
  for (const asked of [bound + 1, bound, bound - 1]) {
    const store = world.open('write')
    let operation = ''
    const gov = {
      ...world.gov, store,
      observer: {
        ...silentObserver,
        at: (step: string) => {
          if (step !== 'bound.reserved') return
          held.push(findReservation(store.read(), operation)?.bound_microusd)
        },
      },
    }
    const place = gatewayContext(gov, {
      client: () => Promise.resolve({
        request: () =>
          Promise.reject(new ContactError('connect_failed', 'none', 'Nobody is there.')),
      }),
      signal: new AbortController().signal,
    })
    const { outcome } = await sendCall(place, {
      step: 'bound', slot: 'chat', purpose: 'gateway.chat', priority: 'normal',
      principal: session.principal.principal_id, root: session.root.root_id,
      content: { messages: [], responseFormat: null, maxTokens: 1 }, boundMicrousd: asked,
      claim: (_tx, _now, _setup, operationId) => {
        operation = operationId
        return { inputDigest: String(asked).padStart(64, '0'), claimed: null }
      },
      judge: () => ({ refused: null, content: true }),
      record: () => null,
    })
    t.equal(outcome, 'not_contacted')
    store.close()
  }
  t.strictSame(held, [bound, bound, bound - 1])
})
