/** One clock for all machines of a state: the place's, as far as it is known. */
import t from 'tap'
import { heardApartMs, heardAtMs, noteHeard } from '../../../src/state/place/heard.js'
import { PlaceClock } from '../../../src/state/place/place-clock.js'
import { placeTimes } from '../../../src/state/place/place.js'
import { stillClock } from '../../support/clock.js'

const within = placeTimes.clockWithinMs
const own = 1_000_000

t.test('before an answer the clock is as it was heard last, and then as it was told', (t) => {
  const clock = new PlaceClock(stillClock(own), 500)
  t.strictSame([clock.wallMs(), clock.isTold], [own + 500, false])
  clock.hear(own + 10_050, own, own + 100)
  t.strictSame([clock.wallMs(), clock.apartMs, clock.isTold], [own + 10_000, 10_000, true])
  t.end()
})

t.test('an answer that took too long tells nothing exactly, but what it rules out', (t) => {
  const clock = new PlaceClock(stillClock(own), 0)
  clock.hear(own + 10_000, own, own + 2 * within + 2)
  t.strictSame([clock.apartMs, clock.isTold], [10_000 - 2 * within - 2, false])
  clock.hear(own + 10_000, own, own + 2 * within)
  t.equal(clock.isTold, true, 'this one is just exact enough')
  t.end()
})

t.test('what is known stays as long as it can be true, and moves no further than it must', (t) => {
  const clock = new PlaceClock(stillClock(own), 0)
  clock.hear(own + 50, own, own + 100)
  t.equal(clock.apartMs, 0)
  clock.hear(own + 130, own, own + 200)
  t.equal(clock.apartMs, 0, 'which may be so: no moment is told twice')
  clock.hear(own + 130, own, own + 40)
  t.equal(clock.apartMs, 90)
  clock.hear(own - 5_000, own, own)
  t.equal(clock.apartMs, -5_000)
  t.end()
})

t.test('what was heard is noted as one text of one length, and nonsense is none', async (t) => {
  const dir = t.testdir()
  t.strictSame([heardAtMs(dir), heardApartMs(dir)], [null, 0])
  noteHeard(dir, own, -10_000)
  t.strictSame([heardAtMs(dir), heardApartMs(dir)], [own, -10_000])
  noteHeard(dir, own + 10, -10_010)
  t.equal(heardAtMs(dir), own, 'not within a second, where nothing else is new')
  noteHeard(dir, own + 20, 4)
  t.strictSame([heardAtMs(dir), heardApartMs(dir)], [own + 20, 4], 'shorter than the one before')
  for (const text of ['', 'NaN', '1e99', 'x'.repeat(20)]) {
    const spoiled = t.testdir({ heard: text })
    t.equal(heardApartMs(spoiled), 0, text)
  }
  noteHeard(`${dir}/none`, own, 0)
})
