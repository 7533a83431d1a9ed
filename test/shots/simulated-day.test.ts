/** A day of windows, carets, typing and video, in short; five days of 600 pictures are a soak. */
import t from 'tap'
import { rounds } from '../support/slice.js'
import { simulatedDay } from '../support/soak/simulated-day.js'

t.test('S-070 S-071 of a day no changed picture takes the description of another one, and windows that come back are paid once', async (t) => {
  const pictures = rounds('pictures', { short: 48, all: 120 })
  const { spent } = await simulatedDay(t, pictures, 7)
  for (const [how, one] of Object.entries(spent)) t.comment(`${how}: ${JSON.stringify(one)}`)
  for (const { lost, heldWrong } of Object.values(spent)) {
    t.equal(lost, 0)
    t.equal(heldWrong, 0)
  }
  for (const clock of ['clock', 'clock ignored']) {
    const [off, on] = [spent[`${clock}, reuse off`]!, spent[`${clock}, reuse on`]!]
    t.equal(on.taken, off.taken, 'the scan takes in the same ones')
    t.equal(off.calls, off.taken)
    const [in30, in60] =
      [spent[`${clock}, reuse on, settle 30`]!, spent[`${clock}, reuse on, settle 60`]!]
    // The estimate of the day before a request is what it comes to, for all settings at once.
    const told = {
      'reuse on': on.calls, 'reuse off': off.calls,
      'reuse on, settle 30': in30.calls, 'reuse on, settle 60': in60.calls,
    }
    for (const one of [off, on, in30, in60]) t.strictSame(one.told, told)
    t.ok(in60.calls <= in30.calls && in30.calls < on.calls)
    t.equal(in30.calls + in30.held, on.calls, 'what is held is what is not sent')
    // What is the same to the last bit is no image of its own: the clock sets the others apart.
    if (clock === 'clock') t.equal(on.calls, off.calls)
    else t.ok(on.calls < off.calls)
    t.equal(on.byDoing.video, off.byDoing.video, 'what moves on is news')
  }
})
