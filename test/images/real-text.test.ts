/** The gate on screens of real type, in short; the long run is `npm run soak -- 200 real-text`. */
import t from 'tap'
import { realEdits } from '../support/images/real-text.js'
import { linesOf, tryRealText } from '../support/soak/real-text.js'

/** Other fonts, sizes, scalings and looks in each of them. */
const seeds = [0, 40, 83, 121] as const

t.test('S-070 S-071 S-072 on screens of real type no change is merged and no repeat is missed', async (t) => {
  for (const seed of seeds) {
    const report = await tryRealText(1, seed)
    t.comment(`seed ${seed}`)
    for (const line of linesOf(report)) t.comment(line)
    t.strictSame(report.wrong, [])
    t.equal(Object.keys(report.changed).length, 3 * Object.keys(realEdits).length)
    t.ok(Object.keys(report.repeats).length >= 8)
  }
})
