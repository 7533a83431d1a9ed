/** The rules of the ledger as a function: what no caller may write, and what binds a step. */
import t from 'tap'
import { applyRow, manualSource } from '../../../src/governance/ledger/machine.js'
import { checkEvidence, requireBound } from '../../../src/governance/ledger/post.js'
import { evidenceBytesMax } from '../../../src/governance/ledger/limits.js'
import { settle } from '../../../src/governance/ledger/steps.js'
import type { LedgerRow, Reservation } from '../../../src/governance/rows.js'
import {
  binding, codeOf, contacted, now, profile, runtime,
} from '../../support/governance/ledger.js'

const row = (change: Partial<LedgerRow>): LedgerRow => ({
  row_id: 'row_2', ledger_id: 'led_1', operation_id: 'op_1', kind: 'settle', runtime, profile,
  amount_microusd: 100, evidence: { source: 'bill' }, previous_row_id: 'row_1', created_at: now,
  ...change,
})

const at = (change: Partial<Reservation>): Reservation => ({
  operation_id: 'op_1', runtime, profile, task_id: null, principal: 'prn_1', bound_microusd: 100,
  state: 'contacted', charged_microusd: null, overrun: 'none', row_ids: ['row_1'],
  updated_at: now, ...change,
})

t.test('a stored hold is of at least one micro-USD', async (t) => {
  const evidence = { principal: 'prn_1', task_id: null }
  const hold = (amount: number) =>
    applyRow(undefined, row({ kind: 'reserve', amount_microusd: amount, evidence }))
  t.equal(hold(0), 'malformed')
  t.equal(typeof hold(1), 'object')
})

t.test('A-118 a person settles only as a person, and a bill never in the name of one', async (t) => {
  const unknown = at({ state: 'unknown' })
  const by = (source: string) =>
    applyRow(unknown, row({ kind: 'manual_settle', evidence: { source } }))
  t.equal(by('bill'), 'malformed')
  t.equal(typeof by(manualSource), 'object')
  t.equal(applyRow(at({}), row({ evidence: { source: manualSource } })), 'malformed')
  const memory = contacted()
  const sources = { [manualSource]: { usage: true } }
  const evidence = { source: manualSource }
  t.equal(codeOf(() => memory.transact((tx) =>
    settle(tx, now, { ...binding(), sources, chargedMicrousd: 1, evidence }))),
  'rejected/evidence_source_refused', 'not even where its capability would take it')
})

t.test('A-127 a review ends an overrun that waits, and names the very charge', async (t) => {
  const evidence = { verdict: 'accept' }
  const review = (before: Reservation, amount: number) =>
    applyRow(before, row({ kind: 'overrun_review', amount_microusd: amount, evidence }))
  const waiting = at({ state: 'settled', charged_microusd: 150, overrun: 'review_required' })
  t.equal(typeof review(waiting, 150), 'object')
  t.equal(review(waiting, 149), 'malformed')
  for (const overrun of ['none', 'accepted', 'rejected'] as const) {
    t.equal(review({ ...waiting, overrun }, 150), 'order', overrun)
  }
})

t.test('A-091 money is bound to its runtime and profile before any step is written', async (t) => {
  const view = contacted().view()
  t.equal(codeOf(() => requireBound(view, binding())), 'none')
  for (const change of [{ runtime: 'gateway_route' as const }, { profile: 'gateway.chat' }]) {
    const code = codeOf(() => requireBound(view, { ...binding(), ...change }))
    t.equal(code, 'blocked/reservation_binding_mismatch', JSON.stringify(change))
  }
})

t.test('the evidence of a row has at most its bytes, to the byte', async (t) => {
  const frame = Buffer.byteLength('{"source":""}')
  const of = (bytes: number) =>
    codeOf(() => checkEvidence({ source: 'x'.repeat(bytes - frame) }))
  t.equal(of(evidenceBytesMax), 'none')
  t.equal(of(evidenceBytesMax + 1), 'rejected/evidence_too_large')
})
