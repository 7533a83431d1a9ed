/** Likenesses over every kind of effect, in short; the long run is `npm run soak -- 60 likenesses`. */
import t from 'tap'
import { tryLikenesses } from '../../support/soak/likenesses.js'

t.test('C-021 C-154 C-247 whatever kind of effect a job has, what is only like it never closes its capacity, and the effect itself does', async (t) => {
  const report = await tryLikenesses(t, 10, 3)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.equal(report.jobs, 10)
  t.equal(report.closed, 10)
  t.ok(report.refused >= 20)
})
