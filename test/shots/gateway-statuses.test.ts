/** Statuses of a gateway in turn; the long run is `npm run soak -- 100 gateway-statuses`. */
import t from 'tap'
import { tryStatuses } from '../support/soak/gateway-statuses.js'
import { rounds } from '../support/slice.js'

t.test('S-136 S-169 whatever a gateway refuses with, one request is burned, none leaves while it is left alone, and the books add up', async (t) => {
  const statuses = rounds('statuses', { short: 2, all: 6 })
  const report = await tryStatuses(t, statuses, 3)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.equal(report.refusals, statuses)
  t.equal(report.keptAway, statuses)
})
