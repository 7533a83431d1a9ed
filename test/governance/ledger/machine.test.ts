/** The rules of the ledger as a function: what no caller may write, and what binds a step. */
import t from 'tap'
import {
  applyRow, evidenceText, isOpen, manualSource,
} from '../../../src/governance/ledger/machine.js'
import { checkEvidence, requireBound } from '../../../src/governance/ledger/post.js'
import { evidenceBytesMax } from '../../../src/governance/ledger/ledger-limits.js'
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

t.test('a stored hold names runtime, profile, owner and task, or is none', async (t) => {
  const evidence = { principal: 'prn_1', task_id: 'task_1' }
  const hold = (change: Partial<LedgerRow>) =>
    applyRow(undefined, row({ kind: 'reserve', evidence, ...change }))
  t.equal(typeof hold({}), 'object')
  t.equal(typeof hold({ evidence: { ...evidence, task_id: null } }), 'object')
  const broken: readonly Partial<LedgerRow>[] = [
    { runtime: null }, { profile: null }, { evidence: null }, { evidence: { task_id: null } },
    { evidence: { ...evidence, principal: 7 } }, { evidence: { ...evidence, task_id: 7 } },
    { evidence: { principal: 'prn_1' } },
  ]
  for (const change of broken) t.equal(hold(change), 'malformed', JSON.stringify(change))
  t.equal(applyRow(at({}), row({ kind: 'reserve', evidence })), 'order', 'held once')
})

t.test('what is no text is no evidence in words', async (t) => {
  t.equal(evidenceText(row({ evidence: { source: 'bill' } }), 'source'), 'bill')
  for (const evidence of [null, {}, { source: 7 }, { source: null }, { source: ['bill'] }]) {
    t.equal(evidenceText(row({ evidence }), 'source'), undefined, JSON.stringify(evidence))
  }
  t.equal(applyRow(at({}), row({ evidence: null })), 'malformed', 'nor does it settle')
})

t.test('A-091 a row of another operation, runtime or profile is refused by name', async (t) => {
  t.equal(typeof applyRow(at({}), row({})), 'object')
  for (const change of [
    { operation_id: 'op_2' }, { runtime: 'gateway_route' }, { profile: 'gateway.chat' },
  ] as const) {
    t.equal(applyRow(at({}), row(change)), 'binding', JSON.stringify(change))
  }
})

t.test('a row that is no charge repeats the bound', async (t) => {
  const states = { contact: 'reserved', recheck: 'reserved', release: 'reserved',
    unknown: 'contacted' } as const
  for (const kind of ['contact', 'recheck', 'release', 'unknown'] as const) {
    const of = (amount: number) => applyRow(at({ state: states[kind] }),
      row({ kind, amount_microusd: amount, evidence: { proof: 'no_request_byte_sent' } }))
    t.equal(typeof of(100), 'object', kind)
    for (const amount of [99, 101]) t.equal(of(amount), 'malformed', kind)
  }
})

t.test('a hold is given back on a proof that fits how far it came, and on no other', async (t) => {
  const release = (state: Reservation['state'], evidence: LedgerRow['evidence']) =>
    applyRow(at({ state }), row({ kind: 'release', evidence }))
  t.equal(typeof release('reserved', { proof: 'never_contacted' }), 'object')
  t.equal(typeof release('contacted', { proof: 'no_request_byte_sent' }), 'object')
  t.equal(release('contacted', { proof: 'never_contacted' }), 'order')
  t.equal(release('unknown', { proof: 'no_request_byte_sent' }), 'order')
  for (const evidence of [null, {}, { proof: 'undefined' }]) {
    t.equal(release('reserved', evidence), 'order', JSON.stringify(evidence))
  }
})

t.test('a row of the ledger itself is no step of an operation', async (t) => {
  t.equal(applyRow(at({}), row({ kind: 'ceiling' })), 'order')
  t.equal(applyRow(undefined, row({ kind: 'ceiling' })), 'order')
})

t.test('a reservation is open while it holds money or waits for a person', async (t) => {
  const states = ['reserved', 'contacted', 'settled', 'released', 'unknown'] as const
  t.strictSame(states.filter((state) => isOpen(at({ state }))),
    ['reserved', 'contacted', 'unknown'])
  t.equal(isOpen(at({ state: 'settled', overrun: 'review_required' })), true)
  t.equal(isOpen(at({ state: 'settled', overrun: 'accepted' })), false)
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
  for (const verdict of ['perhaps', 7, undefined]) {
    t.equal(applyRow(waiting, row({
      kind: 'overrun_review', amount_microusd: 150, evidence: { verdict },
    })), 'malformed', String(verdict))
  }
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
