import t from 'tap'
import { isoFromMs, msFromIso, systemClock } from '../../src/base/clock.js'

t.test('the wall clock counts from 1970 and the monotonic one never steps back', async (t) => {
  t.ok(Math.abs(systemClock.wallMs() - Date.now()) < 60_000)
  let last = systemClock.monotonicMs()
  for (let round = 0; round < 100; round++) {
    const now = systemClock.monotonicMs()
    if (now < last) t.fail('it stepped back')
    last = now
  }
  t.ok(last > 0)
})

t.test('sleep ends after its time or with the reason of its signal', async (t) => {
  const before = systemClock.monotonicMs()
  await systemClock.sleep(20)
  t.ok(systemClock.monotonicMs() - before >= 15)
  const controller = new AbortController()
  const sleeping = systemClock.sleep(60_000, controller.signal)
  const reason = new Error('enough')
  controller.abort(reason)
  await t.rejects(sleeping, reason)
  await t.rejects(systemClock.sleep(60_000, controller.signal), reason)
})

t.test('times are ISO 8601 in UTC with milliseconds and read back exactly', async (t) => {
  t.equal(isoFromMs(0), '1970-01-01T00:00:00.000Z')
  t.equal(msFromIso(isoFromMs(1_893_456_000_123)), 1_893_456_000_123)
})
