/** A second between two POSTs to a host of others. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { pacing } from '../../../../src/codehost/jobs/send-posts.js'
import { stillClock } from '../../../support/clock.js'

t.test('the first POST is not waited for, each other a second from the one before, however long that took', async (t) => {
  const clock = stillClock()
  const spaced = pacing(clock, 1_000, new AbortController().signal)
  const moments: number[] = []
  for (const tookMs of [0, 300, 1_700, 0, 0]) {
    await spaced()
    moments.push(clock.monotonicMs())
    clock.advance(tookMs)
  }
  t.strictSame(moments, [0, 1_000, 2_000, 3_700, 4_700])
})

t.test('nothing goes on before the wait for its second is over', async (t) => {
  const clock = stillClock()
  const asked: number[] = []
  let wake = (): void => undefined
  const sleep = (ms: number) => {
    asked.push(ms)
    return new Promise<void>((resolve) => (wake = resolve))
  }
  const spaced = pacing({ ...clock, sleep }, 1_000, new AbortController().signal)
  await spaced()
  let passed = false
  const second = spaced().then(() => (passed = true))
  await setImmediate()
  t.strictSame([asked, passed], [[1_000], false])
  clock.advance(1_000)
  wake()
  await second
  t.ok(passed)
})

t.test('a stop ends the wait, and no spacing is none', async (t) => {
  const clock = stillClock()
  const stop = new AbortController()
  const spaced = pacing(clock, 1_000, stop.signal)
  await spaced()
  stop.abort()
  await spaced()
  t.equal(clock.monotonicMs(), 0)
  const free = pacing(clock, 0, stop.signal)
  await free()
  await free()
  t.equal(clock.monotonicMs(), 0)
})
