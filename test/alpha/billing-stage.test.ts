/** The stage in which a charge is read back, by steps that are never sent. */
import t from 'tap'
import { readBilling } from '../../src/alpha/ask/billing-stage.js'
import type { AskOperation } from '../../src/alpha/ask/operation.js'
import { noBillingReply } from '../../src/alpha/billing.js'
import { alphaLimits } from '../../src/alpha/constants.js'
import type { Send } from '../../src/contact/order.js'
import { startDeadline } from '../../src/net/remaining.js'
import { minute, stillClock } from '../support/clock.js'

t.test('A-139 an attempt that waited for its record has what is left of the stage, and none goes out behind it', async (t) => {
  for (const [waitedMs, attempts] of [
    [0, [7_000, 14_000]], [10_000, [5_000, null]], [14_960, [null, null]],
  ] as const) {
    const clock = stillClock()
    const operation = {
      deadline: startDeadline(clock, minute), ctx: { gov: { clock } },
    } as unknown as AskOperation
    const told: (number | null)[] = []
    const send = (async (step: { timeoutMs(leftMs: number): number | null }) => {
      clock.advance(waitedMs)
      told.push(step.timeoutMs(minute))
      return { kind: 'reply', status: 200, verdict: noBillingReply }
    }) as unknown as Send
    t.hasStrict(await readBilling(send, operation, 'uuid', Buffer.alloc(0)), { cost: null })
    t.strictSame(told, attempts.slice(0, told.length), `${waitedMs} ms`)
    t.ok(told.every((ms) => ms === null || ms <= alphaLimits.billingStageMsMax - waitedMs))
  }
})

t.test('a first attempt that reached nobody is followed by the second; one that its record kept back is the last', async (t) => {
  const cost = { kind: 'cost', microusd: 7 }
  const paid = { kind: 'reply', status: 200, verdict: cost }
  const unsent = { kind: 'unsent', reason: 'refused', errorKind: 'remote' }
  const readWith = async (first: object) => {
    const clock = stillClock()
    const operation = {
      deadline: startDeadline(clock, minute), ctx: { gov: { clock } },
    } as unknown as AskOperation
    const ends = [first, paid]
    const send = (async () => ends.shift()) as unknown as Send
    return readBilling(send, operation, 'uuid', Buffer.alloc(0))
  }
  t.strictSame(await readWith({ ...unsent, tried: true }), { cost, attempt: 2 })
  t.strictSame(await readWith(unsent), { cost: null, reason: 'refused' })
})
