/** Some likenesses of each kind; all of them by `npm run soak -- 1 likenesses`. */
import t from 'tap'
import { trialCount, tryLikenesses } from '../../support/soak/likenesses.js'

t.test('C-021 C-104 C-154 C-196 what is only like an effect is no evidence of it, by reply, readback, reconcile, adoption or closure; an id is, whoever made it', async (t) => {
  t.ok(trialCount > 80, `${trialCount} likenesses`)
  // With the one behind it, two comments that the host never saw follow each other.
  const report = await tryLikenesses(t, (index) => index % 12 === 5 || index === 54)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.ok(report.refused > 5 && report.evidence > 5, JSON.stringify(report))
})
