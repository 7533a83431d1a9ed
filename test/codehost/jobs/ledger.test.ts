/** What of a reply to a creation is written down. */
import t from 'tap'
import type { RetryAfter } from '../../../src/net/retry-after.js'
import { outcomeOf } from '../../../src/codehost/jobs/ledger.js'

const now = '2026-11-24T12:00:00.000Z'
const day = 86_400_000

t.test('when a token may come back is written down as a time of this machine, and as none where the host names one that is over, or years away', async (t) => {
  const retryAt = (back: RetryAfter | null) => outcomeOf(now, {
    kind: 'reply', status: 403, verdict: {
      kind: 'refused', reason: 'codehost_rate_limited', status: 403, rawSha256: 'a'.repeat(64),
      back, remoteId: null,
    },
  }).retry_at
  t.equal(retryAt({ afterMs: 60_000 }), '2026-11-24T12:01:00.000Z')
  t.equal(retryAt({ atMs: Date.parse(now) + day }), '2026-11-25T12:00:00.000Z')
  t.equal(retryAt({ afterMs: 366 * day }), '2027-11-25T12:00:00.000Z')
  for (const back of [
    null, { afterMs: 0 }, { afterMs: -1 }, { atMs: Date.parse(now) - 1 },
    { afterMs: 366 * day + 1 },
    { afterMs: 1e18 },
  ]) t.equal(retryAt(back), undefined, JSON.stringify(back))
})
