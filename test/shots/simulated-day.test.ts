/** A day of windows, carets, typing and video, in short; five days of 600 pictures are a soak. */
import t from 'tap'
import { rounds } from '../support/slice.js'
import { simulatedDay } from '../support/soak/simulated-day.js'

t.test('S-070 S-071 of a day no changed picture takes the description of another one, and windows that come back are paid once', async (t) => {
  const pictures = rounds('pictures', { short: 48, all: 120 })
  const { spent } = await simulatedDay(t, pictures, 7)
  for (const [how, one] of Object.entries(spent)) t.comment(`${how}: ${JSON.stringify(one)}`)
  for (const { lost } of Object.values(spent)) t.equal(lost, 0)
  for (const clock of ['clock', 'clock ignored']) {
    const [off, on] = [spent[`${clock}, reuse off`]!, spent[`${clock}, reuse on`]!]
    t.equal(on.taken, off.taken, 'the scan takes in the same ones')
    t.equal(off.calls, off.taken)
    // The estimate of the day before a request is what it comes to, for both settings at once.
    for (const { told } of [off, on]) t.strictSame(told, { on: on.calls, off: off.calls })
    // What is the same to the last bit is no image of its own: the clock sets the others apart.
    if (clock === 'clock') t.equal(on.calls, off.calls)
    else t.ok(on.calls < off.calls)
    t.equal(on.byDoing.video, off.byDoing.video, 'what moves on is news')
  }
})
