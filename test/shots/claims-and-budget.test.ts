/** Rules of the money of images: no claim twice, what is held is not free, the bound is today's. */
import { claimCollection, putClaim, type CallClaim } from '../../src/gateway/call/claims.js'
import { callsLeft } from '../../src/shots/budget.js'
import { analyzeBatch } from '../../src/shots/analysis/batch.js'
import type { Tx } from '../../src/state/types.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'
import { rowOf, set, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

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

t.test('S-016 a bound that is saved before the claim holds for it: bound_changed, nothing is held', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  const ctx = world.ctx('write')
  const { store } = ctx.gov
  const commit = store.transact.bind(store)
  let claims = 0
  // The claim is the first record of a call; the bound it was made for was read before it.
  const seen = Object.assign(store, {
    transact: async (...given: Parameters<typeof commit>) => {
      if (given[0] === 'gateway analyze' && (claims += 1) === 1) {
        await set(world, '--request-cost-bound-microusd', '50000')
      }
      return commit(...given)
    },
  })
  const receipt = await analyzeBatch(ctx, { scheduled: false })
  seen.close()
  t.ok(claims > 0, 'the bound was changed right before the claim')
  t.hasStrict(receipt, { items: [], skipped: 1, cost_microusd: 0, held_microusd: 0 })
  t.hasStrict(rowOf(world, 'a.png'), {
    analysis_status: 'pending', analyzer: { attempts: 0, contact: 'none', operation_id: null },
  })
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 },
    'the next pass takes it under the new bound')
})
