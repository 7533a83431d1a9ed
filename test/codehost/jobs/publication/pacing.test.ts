/** A second between two POSTs to a host of others. */
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
