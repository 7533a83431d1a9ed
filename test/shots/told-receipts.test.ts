/** What a receipt makes a pass end with: the code, the exit and what was done before it. */
import t from 'tap'
import type { SallyportError } from '../../src/base/errors.js'
import { analysisFailure, analysisWork } from '../../src/shots/analysis/analysis-contract.js'
import { digestFailure, digestWork } from '../../src/shots/digest/digest-contract.js'
import { scanFailure } from '../../src/shots/receipts/scan.js'

type Analysed = Parameters<typeof analysisFailure>[0]
type Digested = Parameters<typeof digestFailure>[0]
type Scanned = Parameters<typeof scanFailure>[0]

const told = (error: SallyportError | null) => error && [error.kind, error.code, error.reason]

const pass = {
  status: 'degraded', reason: null, receipt_id: 'rct_1', analyzed: 0, failed: 0, blocked: 0,
  skipped: 0, cost_microusd: 0, held_microusd: 0, items: [], proof_renewal: null,
  closed_gates: [], passed_over_reasons: [],
}
const analysed = (change: object) => analysisFailure({ ...pass, ...change } as unknown as Analysed)

t.test('a pass that was stopped is cancelled, one that left work says whether it may be repeated',
  async (t) => {
  t.equal(analysed({ status: 'ok' }), null)
  for (const reason of ['cancelled', 'call_cancelled', 'lock_wait_stopped']) {
    t.strictSame(told(analysed({ reason })), ['cancelled', 'analysis_cancelled', reason])
  }
  t.strictSame(told(analysed({ reason: 'lock_held' })),
    ['locked', 'analysis_degraded', 'lock_held'])
  t.strictSame(told(analysed({ failed: 1, reason: 'call_failed' })),
    ['remote', 'analysis_degraded', 'call_failed'])
  t.strictSame(told(analysed({ receipt_id: null, reason: 'lock_held' })),
    ['locked', 'analysis_degraded', 'lock_held'])
  t.strictSame(told(analysed({ analyzed: 2, reason: 'lock_held' })),
    ['partial', 'analysis_degraded', 'lock_held'], 'part of it was done')
  t.strictSame(told(analysed({ analyzed: 2, reason: 'cancelled' })),
    ['cancelled', 'analysis_cancelled', 'cancelled'], 'a person knows what they stopped')
})

const tick = {
  status: 'degraded', reason: null, written: 0, updated: 0, unchanged: 0, not_repeated: 0,
  blocked: 0, failed: 0, held_microusd: 0, windows: [], proof_renewal: null,
}
const digested = (change: object) => digestFailure({ ...tick, ...change } as unknown as Digested)

t.test('a digest that could not be kept says whether it waits or was asked for', async (t) => {
  t.equal(digested({ status: 'ok' }), null)
  for (const reason of ['lock_held', 'lane_busy', 'deadline_passed', 'place_unreachable']) {
    t.strictSame(told(digested({ reason, failed: 1 })), ['locked', 'digest_degraded', reason])
  }
  for (const reason of ['cancelled', 'call_cancelled', 'lock_wait_stopped']) {
    t.strictSame(told(digested({ reason, failed: 1 })), ['cancelled', 'digest_cancelled', reason])
  }
  t.strictSame(told(digested({ reason: 'call_failed', failed: 1 })),
    ['remote', 'digest_degraded', 'call_failed'])
  t.strictSame(told(digested({ reason: 'lock_held', written: 1 })),
    ['partial', 'digest_degraded', 'lock_held'])
})

t.test('what was sent counts as sent, also where its end was not recorded and nothing of it is known', (t) => {
  const nothing = { cost_microusd: null, due: null, held_microusd: null, reason: null }
  for (const [change, sent] of [
    [{}, 0], [{ reason: 'call_failed' }, 0], [{ cost_microusd: 0 }, 1], [{ due: 'settle' }, 1],
    [{ reason: 'outcome_not_recorded' }, 1],
  ] as const) {
    const calls = [{ ...nothing, ...change }]
    t.strictSame([
      analysisWork({ ...pass, items: calls } as unknown as Analysed).sent,
      digestWork({ ...tick, windows: calls } as unknown as Digested).sent,
    ], [sent, sent], JSON.stringify(change))
  }
  t.end()
})

t.test('S-171 a scan that was stopped is cancelled, one that could not write waits', async (t) => {
  const scanned = (change: object) => scanFailure(
    { status: 'degraded', reason: 'cancelled', deferred: 3, ...change } as unknown as Scanned)
  t.equal(scanned({ status: 'ok' }), null)
  const stopped = scanned({})
  t.strictSame(told(stopped), ['cancelled', 'scan_cancelled', null])
  t.strictSame(stopped?.details, { reason: 'cancelled', deferred: 3 })
  for (const reason of ['lock_held', 'disk_full']) {
    t.strictSame(told(scanned({ reason })), ['locked', 'scan_degraded', reason])
  }
  t.not(scanned({ reason: 'lock_held' })?.next, scanned({ reason: 'disk_full' })?.next)
})
