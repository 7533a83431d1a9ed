/** What was spent in a day, by the sums of its hours. */
import t from 'tap'
import { addSpend, spendOfDay } from '../../src/gateway/call/spend.js'
import { isoFromMs } from '../../src/base/clock.js'
import { hour } from '../support/clock.js'
import { World } from '../world/world.js'

t.test('the hour in which a day begins counts whole, the one before it and other purposes do not', async (t) => {
  const world = await World.still(t).state()
  const now = Date.UTC(2026, 10, 20, 12, 30)
  await world.transact((tx) => {
    for (const [back, held] of [[0, 1], [23, 10], [24, 100], [25, 1_000]] as const) {
      const at = isoFromMs(now - back * hour)
      addSpend(tx, { purpose: 'gateway.vision', at }, { requests: 1, heldMicrousd: held })
      addSpend(tx, { purpose: 'gateway.report', at }, { requests: 1, settledMicrousd: held })
    }
  })
  const vision = new Set(['gateway.vision'] as const)
  t.strictSame(spendOfDay(world.view(), vision, now),
    { requests: 3, heldMicrousd: 111, settledMicrousd: 0 })
  t.strictSame(spendOfDay(world.view(), vision, now + hour),
    { requests: 2, heldMicrousd: 11, settledMicrousd: 0 })
})
