import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import {
  markContacted, markUnknown, recheckRow, release, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { manualSettle, reviewOverrun } from '../../../src/governance/ledger/by-hand.js'
import {
  balances, findReservation,
} from '../../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections, type Reservation } from '../../../src/governance/rows.js'
import { ledgerRowsOf } from '../../support/ledger.js'
import type { Memory } from '../../support/governance/memory.js'
import {
  binding, codeOf, contacted, evidence, ledgerOf, now, request, sessionOf,
} from '../../support/governance/ledger.js'

const settleAt = (memory: Memory, charged: number): { overrun: boolean } =>
  memory.transact((tx) =>
    settle(tx, now, { ...binding(), chargedMicrousd: charged, evidence }))

const unknown = (): Memory => {
  const memory = contacted()
  memory.transact((tx) => markUnknown(tx, now, { ...binding(), reason: 'timeout' }))
  return memory
}

/** Reservations that hold money or wait for a person. */
const openIn = (memory: Memory): readonly Reservation[] =>
  memory.view().all(collections.openReservations).map(({ doc }) => doc)

t.test('A-164 a hold stands in the ledger before contact, under the one ceiling', async (t) => {
  const memory = ledgerOf(250)
  const { row, replayed } = memory.transact((tx) => reserve(tx, now, request()))
  t.hasStrict(row, { kind: 'reserve', runtime: 'alpha_text_native', amount_microusd: 100 })
  t.notOk(replayed)
  t.hasStrict(balances(memory.view()), { held_microusd: 100, available_microusd: 150 })
  memory.transact((tx) => reserve(tx, now, request({ operationId: 'op_2', bound: 150 })))
  t.equal(balances(memory.view()).available_microusd, 0)
  try {
    memory.transact((tx) => reserve(tx, now, request({ operationId: 'op_3', bound: 1 })))
    t.fail('the ceiling was passed')
  } catch (error) {
    t.ok(error instanceof SallyportError)
    t.hasStrict(error, {
      kind: 'budget', code: 'ceiling_exceeded', details: { ceiling: 250, consumed: 250, bound: 1 },
    })
  }
  t.strictSame(verifyLedger(memory.view()), [])
})

const nextOf = (memory: Memory, principal: string): string => {
  try {
    memory.transact((tx) =>
      reserve(tx, now, request({ operationId: 'op_more', principal, bound: 1_000 })))
    return 'held'
  } catch (error) {
    return error instanceof SallyportError ? error.next ?? '' : 'a defect'
  }
}

t.test('A-127 a ceiling without room leads with the review of charges above their bounds, as far as they are of the owner who asks', async (t) => {
  const dispute = (memory: Memory, operationId: string, principal: string): void => {
    memory.transact((tx) => {
      reserve(tx, now, request({ operationId, principal, bound: 10 }))
      markContacted(tx, now, binding(operationId))
      settle(tx, now, { ...binding(operationId), chargedMicrousd: 400, evidence })
    })
  }
  const memory = ledgerOf(1_000)
  t.equal(nextOf(memory, 'prn_1'), 'held', 'room for the first')
  const tight = ledgerOf(1_300)
  const plain = 'See what holds it with: `sallyport ledger show`.'
  dispute(tight, 'op_1', 'prn_1')
  t.equal(nextOf(tight, 'prn_1'),
    `Run \`sallyport ledger review op_1\`: that charge passed its bound. ${plain}`)
  t.equal(nextOf(tight, 'prn_2'), plain, 'nobody else can review it')
  dispute(tight, 'op_2', 'prn_1')
  t.match(nextOf(tight, 'prn_1'), /^Run `sallyport ledger review OPERATION` for each overrun of/)
  for (const id of ['op_1', 'op_2']) {
    tight.transact((tx) => reviewOverrun(tx, now, sessionOf('prn_1'), id, 'accept'))
  }
  t.equal(nextOf(tight, 'prn_1'), plain, 'once they are reviewed nothing waits')
})

t.test('the same operation id finds its hold again; other content is a conflict', async (t) => {
  const memory = contacted()
  const again = memory.transact((tx) => reserve(tx, now, request()))
  t.ok(again.replayed)
  t.equal(again.reservation.state, 'contacted', 'in whatever state it is by now')
  t.equal(balances(memory.view()).held_microusd, 100, 'no second hold')
  const others = [
    { bound: 101 }, { taskId: 'task_2' }, { taskId: null }, { principal: 'prn_2' },
    { profile: 'gateway.chat' }, { runtime: 'gateway_route' as const },
  ]
  for (const change of others) {
    const code = codeOf(() => memory.transact((tx) => reserve(tx, now, request(change))))
    t.equal(code, 'conflict/operation_id_reused', JSON.stringify(change))
  }
})

t.test('A-145 an operation id has 1 to 256 UTF-8 bytes', async (t) => {
  const attempt = (operationId: string): string =>
    codeOf(() => ledgerOf(500).transact((tx) => reserve(tx, now, request({ operationId }))))
  t.equal(attempt('a'.repeat(256)), 'none')
  t.equal(attempt('é'.repeat(128)), 'none', '256 bytes in 128 characters')
  t.equal(attempt('a'.repeat(257)), 'rejected/operation_id_invalid')
  t.equal(attempt(`${'é'.repeat(128)}a`), 'rejected/operation_id_invalid')
  t.equal(attempt(''), 'rejected/operation_id_invalid')
  t.equal(attempt('\ud800'), 'rejected/operation_id_invalid', 'a lone surrogate has no bytes')
})

t.test('whatever a hold names has 1 to 256 bytes, and so has the reason of an unknown charge', async (t) => {
  const names = [
    ['profile', 'profile'], ['principal', 'principal'], ['taskId', 'task_id'],
    ['subject', 'subject'],
  ] as const
  const fits = 'a'.repeat(256)
  for (const [field, told] of names) {
    const memory = ledgerOf(500)
    const hold = (name: string): string => codeOf(() =>
      memory.transact((tx) => reserve(tx, now, request({ [field]: name }))))
    for (const wrong of ['', `${fits}a`, '\ud800']) {
      t.equal(hold(wrong), `rejected/${told}_invalid`, `${field}: ${wrong.length}`)
    }
    t.equal(balances(memory.view()).held_microusd, 0)
    t.equal(hold(fits), 'none', field)
  }
  for (const [reason, code] of [
    ['', 'rejected/reason_invalid'], [`${fits}a`, 'rejected/reason_invalid'], [fits, 'none'],
  ] as const) {
    const memory = contacted()
    t.equal(codeOf(() => memory.transact((tx) =>
      markUnknown(tx, now, { ...binding(), reason }))), code)
    t.equal(balances(memory.view()).unknown_microusd, code === 'none' ? 100 : 0)
  }
})

t.test('a charge is an integer of micro-USD that is known exactly', async (t) => {
  for (const charged of [-1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
    const memory = contacted()
    t.equal(codeOf(() => settleAt(memory, charged)), 'rejected/charge_out_of_range')
    t.hasStrict(balances(memory.view()), { settled_microusd: 0, held_microusd: 100 })
  }
})

t.test('a bound is an integer of 1 to 1000000000', async (t) => {
  for (const bound of [0, -1, 1.5, 1_000_000_001, Number.NaN, Number.MAX_SAFE_INTEGER]) {
    const memory = ledgerOf(1_000_000_000)
    const code = codeOf(() => memory.transact((tx) => reserve(tx, now, request({ bound }))))
    t.equal(code, 'rejected/request_cost_bound_out_of_range', String(bound))
  }
  const code = codeOf(() => ledgerOf(500).transact((tx) =>
    reserve(tx, now, request({ runtime: 'other' }))))
  t.equal(code, 'rejected/runtime_unknown')
})

t.test('A-204 a charge takes the place of the hold, whole', async (t) => {
  for (const charged of [0, 1, 100]) {
    const memory = contacted()
    t.notOk(settleAt(memory, charged).overrun, 'a charge up to the bound is no overrun')
    t.hasStrict(balances(memory.view()), { settled_microusd: charged, held_microusd: 0 })
    t.strictSame(openIn(memory), [], 'it is closed')
    t.hasStrict(findReservation(memory.view(), 'op_1'), { state: 'settled', overrun: 'none' })
    t.strictSame(verifyLedger(memory.view()), [])
  }
})

t.test('A-127 A-204 a charge above the bound stands whole and waits for a review', async (t) => {
  for (const charged of [101, 1_000_000_000]) {
    const memory = contacted()
    t.ok(settleAt(memory, charged).overrun)
    t.equal(balances(memory.view()).settled_microusd, charged, 'also above the ceiling')
    t.hasStrict(openIn(memory), [{ overrun: 'review_required' }])
    t.strictSame(verifyLedger(memory.view()), [])
  }
})

t.test('A-127 one verdict ends an overrun and changes no charge', async (t) => {
  for (const [verdict, overrun] of [['accept', 'accepted'], ['reject', 'rejected']] as const) {
    const memory = contacted()
    settleAt(memory, 150)
    const review = (): unknown => memory.transact((tx) =>
      reviewOverrun(tx, now, sessionOf('prn_1'), 'op_1', verdict))
    t.equal(codeOf(review), 'none')
    t.hasStrict(findReservation(memory.view(), 'op_1'), { overrun, charged_microusd: 150 })
    t.strictSame(openIn(memory), [])
    t.equal(codeOf(review), 'conflict/no_overrun_to_review', 'never a second verdict')
    t.equal(balances(memory.view()).settled_microusd, 150)
    t.equal(memory.view().all(collections.audit).length, 1, 'audited')
    t.strictSame(verifyLedger(memory.view()), [])
  }
})

t.test('an overrun of a foreign owner, or none at all, cannot be reviewed', async (t) => {
  const memory = contacted()
  const review = (principal: string, id = 'op_1'): string => codeOf(() => memory.transact((tx) =>
    reviewOverrun(tx, now, sessionOf(principal), id, 'accept')))
  t.equal(review('prn_1'), 'conflict/no_overrun_to_review')
  settleAt(memory, 150)
  t.equal(review('prn_2'), 'not_found/reservation_not_found')
  t.equal(review('prn_1', 'op_9'), 'not_found/reservation_not_found')
})

t.test('A-124 an unknown charge keeps the full bound until a person settles it', async (t) => {
  const memory = unknown()
  t.hasStrict(balances(memory.view()), { held_microusd: 0, unknown_microusd: 100 })
  t.hasStrict(openIn(memory), [{ state: 'unknown', bound_microusd: 100 }])
  t.equal(codeOf(() => settleAt(memory, 5)), 'conflict/ledger_step_out_of_order')
  t.strictSame(verifyLedger(memory.view()), [])
  const by = (principal: string, amount = 42): string => codeOf(() => memory.transact((tx) =>
    manualSettle(tx, now, sessionOf(principal), { operationId: 'op_1', amount })))
  t.equal(by('prn_2'), 'not_found/reservation_not_found', 'not by a foreign owner')
  t.equal(by('prn_1', -1), 'rejected/amount_out_of_range')
  t.equal(by('prn_1', 1.5), 'rejected/amount_out_of_range')
  t.equal(balances(memory.view()).unknown_microusd, 100)
  t.equal(by('prn_1'), 'none')
  t.hasStrict(balances(memory.view()), { unknown_microusd: 0, settled_microusd: 42 })
  t.equal(by('prn_1'), 'conflict/ledger_step_out_of_order', 'once')
  t.equal(memory.view().all(collections.audit).length, 1, 'audited')
  t.strictSame(verifyLedger(memory.view()), [])
})

t.test('a manual settlement above the bound waits for a review too', async (t) => {
  const memory = unknown()
  memory.transact((tx) => manualSettle(tx, now, sessionOf('prn_1'), {
    operationId: 'op_1', amount: 101, note_digest: '1'.repeat(64),
  }))
  t.hasStrict(openIn(memory), [{ overrun: 'review_required' }])
  const found = findReservation(memory.view(), 'op_1')
  t.hasStrict(found && ledgerRowsOf(memory.view(), found).at(-1)?.evidence, {
    source: 'operator_manual', principal: 'prn_1', note_sha256: '1'.repeat(64),
  })
})

t.test('A-118 billing evidence imitates neither gateway usage nor a person', async (t) => {
  const attempt = (given: Record<string, unknown>): string => {
    const memory = contacted()
    const code = codeOf(() => memory.transact((tx) => settle(tx, now, {
      ...binding(), chargedMicrousd: 5, evidence: given as { source: string },
    })))
    const held = code === 'none' ? 0 : 100
    t.equal(balances(memory.view()).held_microusd, held, 'a refusal leaves the liability')
    return code
  }
  t.equal(attempt(evidence), 'none')
  t.equal(attempt({ ...evidence, source: 'operator_manual' }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, source: 'gateway_usage' }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, source: 'toString' }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, usage: { cost: 1 } }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, total_tokens: 9 }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, source: 7 }), 'rejected/evidence_source_refused')
  t.equal(attempt({ ...evidence, source: '' }), 'rejected/evidence_source_invalid')
  t.equal(attempt({ ...evidence, note: 'x'.repeat(5000) }), 'rejected/evidence_too_large')
})

t.test('the gateway route settles from its own usage', async (t) => {
  const memory = ledgerOf(1000)
  const gateway = { operationId: 'op_1', runtime: 'gateway_route', profile: 'gateway' } as const
  memory.transact((tx) => reserve(tx, now, request(gateway)))
  memory.transact((tx) => markContacted(tx, now, gateway))
  memory.transact((tx) => settle(tx, now, {
    ...gateway, sources: { gateway_usage: { usage: true } },
    chargedMicrousd: 7, evidence: { source: 'gateway_usage', usage_cost: '0.000007' },
  }))
  t.equal(balances(memory.view()).settled_microusd, 7)
})

t.test('a hold is released only with proof that nothing was sent', async (t) => {
  const fresh = ledgerOf(1000)
  fresh.transact((tx) => reserve(tx, now, request()))
  fresh.transact((tx) => release(tx, now, { ...binding(), proof: 'never_contacted' }))
  t.hasStrict(balances(fresh.view()), { consumed_microusd: 0 })
  t.hasStrict(findReservation(fresh.view(), 'op_1'), { state: 'released', charged_microusd: null })
  const after = contacted()
  const give = (proof: 'never_contacted' | 'no_request_byte_sent'): string =>
    codeOf(() => after.transact((tx) => release(tx, now, { ...binding(), proof })))
  t.equal(give('never_contacted'), 'conflict/ledger_step_out_of_order', 'it was marked contacted')
  t.equal(give('other' as 'never_contacted'), 'conflict/ledger_step_out_of_order')
  t.equal(balances(after.view()).held_microusd, 100)
  t.equal(give('no_request_byte_sent'), 'none', 'the client proved it')
  t.equal(balances(after.view()).held_microusd, 0)
  t.equal(give('no_request_byte_sent'), 'conflict/ledger_step_out_of_order', 'once')
  t.strictSame(verifyLedger(after.view()), [])
})

t.test('nothing is contacted twice, and nothing follows an end', async (t) => {
  const memory = contacted()
  const contact = (): string => codeOf(() =>
    memory.transact((tx) => markContacted(tx, now, binding())))
  t.equal(contact(), 'conflict/ledger_step_out_of_order')
  settleAt(memory, 10)
  t.equal(contact(), 'conflict/ledger_step_out_of_order')
  t.equal(codeOf(() => settleAt(memory, 10)), 'conflict/ledger_step_out_of_order')
  const turn = codeOf(() => memory.transact((tx) =>
    markUnknown(tx, now, { ...binding(), reason: 'late' })))
  t.equal(turn, 'conflict/ledger_step_out_of_order')
  t.equal(codeOf(() => memory.transact((tx) => markContacted(tx, now, binding('op_9')))),
    'not_found/reservation_not_found')
})

t.test('a hold that was never contacted does not settle', async (t) => {
  const memory = ledgerOf(1000)
  memory.transact((tx) => reserve(tx, now, request()))
  t.equal(codeOf(() => settleAt(memory, 5)), 'conflict/ledger_step_out_of_order')
  t.equal(balances(memory.view()).held_microusd, 100)
})

t.test('a recheck names its revision, moves no money and is bounded', async (t) => {
  const memory = contacted()
  const recheck = (): string => codeOf(() =>
    memory.transact((tx) => recheckRow(tx, now, { ...binding(), policyRevision: 7 })))
  for (let n = 0; n < 16; n += 1) t.equal(recheck(), 'none')
  t.equal(recheck(), 'conflict/rechecks_exhausted')
  t.equal(balances(memory.view()).held_microusd, 100)
  settleAt(memory, 5)
  const found = findReservation(memory.view(), 'op_1')
  t.hasStrict(found && ledgerRowsOf(memory.view(), found)[2]?.evidence, { policy_revision: 7 })
  t.strictSame(verifyLedger(memory.view()), [])
})

t.test('no step takes more out of a total than is in it: that would be room that nobody has', async (t) => {
  const memory = contacted()
  memory.transact((tx) => {
    for (const { id, doc } of tx.all(collections.ledgerAccounts)) {
      tx.put(collections.ledgerAccounts, id, { ...doc, held_microusd: 40 })
    }
  })
  t.equal(codeOf(() => settleAt(memory, 10)), 'blocked/ledger_overflow')
  t.equal(codeOf(() => memory.transact((tx) =>
    release(tx, now, { ...binding(), proof: 'no_request_byte_sent' }))), 'blocked/ledger_overflow')
  t.hasStrict(balances(memory.view()), { held_microusd: 40, settled_microusd: 0 })
})

t.test('totals never leave the exact integers', async (t) => {
  const memory = contacted()
  settleAt(memory, Number.MAX_SAFE_INTEGER)
  t.equal(balances(memory.view()).settled_microusd, Number.MAX_SAFE_INTEGER)
  const fresh = ledgerOf(1000)
  for (const id of ['op_1', 'op_2']) {
    fresh.transact((tx) => reserve(tx, now, request({ operationId: id })))
    fresh.transact((tx) => markContacted(tx, now, binding(id)))
  }
  const charge = (id: string): string => codeOf(() => fresh.transact((tx) => settle(tx, now, {
    ...binding(id), chargedMicrousd: Number.MAX_SAFE_INTEGER - 150, evidence,
  })))
  t.equal(charge('op_1'), 'none')
  t.equal(charge('op_2'), 'blocked/ledger_overflow')
  t.equal(balances(fresh.view()).held_microusd, 100, 'the liability stays')
  t.strictSame(verifyLedger(fresh.view()), [])
})
