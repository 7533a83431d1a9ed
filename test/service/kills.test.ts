/** The service and a device while either is killed; `npm run soak` runs longer ones. */
import t from 'tap'
import { killService } from '../support/soak/kill-service.js'
import { rounds } from '../support/slice.js'

t.test('S-031 S-204 whoever is killed at whatever time, each capture is stored once, whole and in order', async (t) => {
  const { captured, stored, killedService, violations } =
    await killService(rounds('kills', { short: 2, all: 3 }))
  t.strictSame(violations, [])
  t.equal(stored, captured)
  t.ok(killedService > 0)
})
