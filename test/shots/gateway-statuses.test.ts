/** Statuses of a gateway in turn; the long run is `npm run soak -- 100 gateway-statuses`. */
import t from 'tap'
import { tryStatuses } from '../support/soak/gateway-statuses.js'

t.test('S-136 S-169 whatever a gateway refuses with, one request is burned, none leaves while it is left alone, and the books add up', async (t) => {
  const report = await tryStatuses(t, 6, 3)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.equal(report.refusals, 6)
  t.equal(report.keptAway, 6)
})
