/** Areas over screens of real type, in short; the long run is `npm run soak -- 200 ignored`. */
import t from 'tap'
import { realEdits } from '../support/images/real-text.js'
import { linesOf, tryIgnoredText } from '../support/soak/ignored-text.js'

/** Other fonts, sizes, scalings and looks in each of them. */
const seeds = [0, 40, 83] as const

t.test('S-070 S-071 S-072 on screens of real type no edit beside ignored areas is merged, and none inside of one is missed', async (t) => {
  for (const seed of seeds) {
    const report = await tryIgnoredText(1, seed)
    t.comment(`seed ${seed}`)
    for (const line of linesOf(report)) t.comment(line)
    t.strictSame(report.wrong, [])
    t.equal(report.inside['png']?.pairs, Object.keys(realEdits).length)
    t.equal(report.beside['png']?.pairs, 2 * Object.keys(realEdits).length)
  }
})
