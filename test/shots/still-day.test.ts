/** A desktop that stands still but for its clock, for some minutes; eight hours are a soak. */
import t from 'tap'
import { stillDay } from '../support/soak/still-day.js'
import { rounds } from '../support/slice.js'

t.test('a still desktop with a clock is paid for each minute, and with the told area ignored once', async (t) => {
  const minutes = rounds('minutes', { short: 34, all: 64 })
  const { asItComes, area, ignored } = await stillDay(t, minutes)
  t.comment(JSON.stringify({ asItComes, area, ignored }))
  t.strictSame([asItComes.pictures, asItComes.analysed], [minutes, minutes])
  t.match(area, /^960x540:\d+,\d+,\d+,\d+$/)
  // A run of like images is refreshed after 30 minutes; the fresh image repeats the first one.
  const takenIn = 1 + Math.floor((minutes - 1) / 30)
  t.strictSame([ignored.pictures, ignored.ingested, ignored.analysed], [minutes, takenIn, 1])
  t.strictSame(ignored.heldBack, { alike_outside_ignored: minutes - takenIn })
})
