/** The gate on screens of real type, in short; the long run is `npm run soak -- 200 real-text`. */
import { realEdits } from '../support/images/real-text.js'
import { linesOf as equalLines, tryEqualQuality } from '../support/soak/equal-quality.js'
import { linesOf, tryRealText } from '../support/soak/real-text.js'
import { t } from '../support/tests-in-slices.js'

/** Other fonts, sizes, scalings and looks in each of them. */
const seeds = [0, 40, 83, 121, 165, 190] as const

t.test('S-070 S-071 S-072 on screens of real type no change is merged and no repeat is missed', async (t) => {
  for (const seed of seeds) {
    const report = await tryRealText(1, seed)
    t.comment(`seed ${seed}`)
    for (const line of linesOf(report)) t.comment(line)
    t.strictSame(report.wrong, [])
    t.equal(Object.keys(report.changed).length, 4 * Object.keys(realEdits).length)
    t.ok(Object.keys(report.repeats).length >= 8)
  }
})

t.test('S-070 S-071 S-072 a changed digit of faint type is seen between JPEGs of equal and of nearly equal quality', async (t) => {
  const report = await tryEqualQuality(8, 1000)
  for (const line of equalLines(report)) t.comment(line)
  t.strictSame(report.wrong, [])
  t.ok(Object.values(report.changed).every(({ pairs, lost }) => pairs === 32 && lost < pairs))
})
