/** Two pure rules of the money of images: no claim twice, and what is held is not free. */
import t from 'tap'
import { claimCollection, putClaim, type CallClaim } from '../../src/gateway/call/claims.js'
import { callsLeft } from '../../src/shots/budget.js'
import type { Tx } from '../../src/state/types.js'

const standing = {
  since: '2026-11-20T10:00:00.000Z', budgetMicrousd: 1_000, budgetRequests: 10,
  settledMicrousd: 400, heldMicrousd: 300, requests: 4,
}

t.test('S-016 S-205 held money counts against the budget of the day, to the last micro-USD', (t) => {
  t.equal(callsLeft(standing, 300), 1, 'exactly what is left fits')
  t.equal(callsLeft(standing, 301), 0)
  t.equal(callsLeft({ ...standing, heldMicrousd: 301 }, 300), 0, 'a hold is not free')
  t.equal(callsLeft({ ...standing, requests: 9 }, 1), 1)
  t.equal(callsLeft({ ...standing, requests: 10 }, 1), 0)
  t.equal(callsLeft({ ...standing, budgetMicrousd: null }, 1), 0)
  t.equal(callsLeft({ ...standing, budgetRequests: null }, 1), 0)
  t.end()
})

t.test('S-168 a digest that was ever claimed is never claimed again: call_repeated', (t) => {
  const rows = new Map<string, CallClaim>()
  const tx = {
    get: (collection: unknown, id: string) =>
      (collection === claimCollection ? rows.get(id) : undefined),
    put: (_collection: unknown, id: string, doc: CallClaim) => void rows.set(id, doc),
  } as unknown as Tx
  const claim = {
    input_digest: 'a'.repeat(64), slot: 'screenshot', purpose: 'gateway.vision',
    operation_id: 'op_1', grant_id: 'grt_1', principal: 'prn_1', root: null,
    claimed_at: '2026-11-20T10:00:00.000Z',
  } as const
  putClaim(tx, claim)
  t.throws(() => putClaim(tx, { ...claim, operation_id: 'op_2' }), { code: 'call_repeated' })
  t.equal(rows.get(claim.input_digest)?.operation_id, 'op_1', 'the first one stands')
  t.end()
})
