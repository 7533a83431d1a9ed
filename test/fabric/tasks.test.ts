/** What a person decides about money, by somebody whose session ended a moment before. */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { reviewAnyOverrun, settleCharges } from '../../src/fabric/tasks.js'
import type { Gov } from '../../src/governance/context.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { limits } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

const govOf = (rig: AlphaWorld): Gov => (
  { store: rig.open('write'), clock: systemClock, observer: silentObserver, face: 'cli' }
)

for (const [what, fault] of [
  ['a settlement', 'billing_status_500'], ['a review of an overrun', 'billing_overrun'],
] as const) {
  t.test(`a session that ends before the record is written: ${what} is refused`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set(fault, { service: 'provider', value: limits.boundMicrousd })
    const operation = (await rig.ask()).error().details['operation_id'] as string
    const gov = govOf(rig)
    const session = authenticate(gov, loadToken(tokenPath(rig.place.stateDir)))
    t.equal((await rig.run(['logout'])).status, 0)
    const before = rig.view().sequence
    const decided: Promise<unknown> = fault === 'billing_overrun'
      ? reviewAnyOverrun(gov, session, operation, 'accept')
      : settleCharges(gov, session, [operation], { amount: 5 })
    await t.rejects(decided, { kind: 'unauthorized', code: 'session_ended' })
    t.equal(rig.view().sequence, before, 'nothing was written')
    checkLedger(t, rig)
  })
}

t.test('a session that ends before the record is written: a review of an overrun that no task waits for is refused', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run([
    'gateway', 'setup', '--json', '--slot', 'chat', '--request-cost-bound-microusd', '1',
  ]))
  const { code, details } = (await rig.prove('chat')).error()
  t.equal(code, 'proof_overrun')
  const gov = govOf(rig)
  const session = authenticate(gov, loadToken(tokenPath(rig.place.stateDir)))
  must(await rig.run(['logout']))
  const before = rig.view().sequence
  await t.rejects(reviewAnyOverrun(gov, session, details['operation_id'] as string, 'accept'),
    { kind: 'unauthorized', code: 'session_ended' })
  t.equal(rig.view().sequence, before, 'nothing was written')
  checkLedger(t, rig)
})
