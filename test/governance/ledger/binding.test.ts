import t, { type Test } from 'tap'
import {
  markContacted, markUnknown, recheckRow, release, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { manualSettle, reviewOverrun } from '../../../src/governance/ledger/by-hand.js'
import { balances, findReservation } from '../../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections, type LedgerRow } from '../../../src/governance/rows.js'
import type { Tx } from '../../../src/state/types.js'
import { ledgerRowsOf } from '../../support/ledger.js'
import type { Memory } from '../../support/governance/memory.js'
import {
  binding, codeOf, evidence, ledgerOf, now, request, sessionOf,
} from '../../support/governance/ledger.js'

type Named = ReturnType<typeof binding>
type Step = (tx: Tx, named: Named) => unknown

const reserveStep: Step = (tx) => reserve(tx, now, request())
const contact: Step = (tx, named) => markContacted(tx, now, named)
const recheck: Step = (tx, named) => recheckRow(tx, now, { ...named, policyRevision: 3 })
const unknown: Step = (tx, named) => markUnknown(tx, now, { ...named, reason: 'timeout' })
const settleBy = (amount: number): Step => (tx, named) =>
  settle(tx, now, { ...named, chargedMicrousd: amount, evidence })

/** Every step with the legal steps that stand before it. */
const steps: Readonly<Record<string, { before: readonly Step[]; step: Step }>> = {
  contact: { before: [reserveStep], step: contact },
  recheck: { before: [reserveStep, contact], step: recheck },
  settle: { before: [reserveStep, contact], step: settleBy(5) },
  release: {
    before: [reserveStep],
    step: (tx, named) => release(tx, now, { ...named, proof: 'never_contacted' }),
  },
  unknown: { before: [reserveStep, contact], step: unknown },
  manual_settle: {
    before: [reserveStep, contact, unknown],
    step: (tx) => manualSettle(tx, now, sessionOf('prn_1'), { operationId: 'op_1', amount: 5 }),
  },
  overrun_review: {
    before: [reserveStep, contact, settleBy(500)],
    step: (tx) => reviewOverrun(tx, now, sessionOf('prn_1'), 'op_1', 'accept'),
  },
}

const build = (before: readonly Step[]): Memory => {
  const memory = ledgerOf(1000)
  for (const step of before) memory.transact((tx) => step(tx, binding()))
  return memory
}

const alterRow = (memory: Memory, kind: string, change: Partial<LedgerRow>): void =>
  memory.transact((tx) => {
    const found = tx.all(collections.ledgerRows).find(({ doc }) => doc.kind === kind)
    if (!found) throw new Error(`no ${kind} row`)
    tx.put(collections.ledgerRows, found.id, { ...found.doc, ...change })
  })

const refusesAndKeeps = (t: Test, memory: Memory, name: string, step: Step): void => {
  const before = balances(memory.view())
  const rows = memory.view().all(collections.ledgerRows)
  const code = codeOf(() => memory.transact((tx) => step(tx, binding())))
  t.equal(code, 'blocked/reservation_binding_mismatch', name)
  t.strictSame(balances(memory.view()), before, 'the liability stays')
  t.strictSame(memory.view().all(collections.ledgerRows), rows, 'no row is written')
}

t.test('A-091 A-117 every step refuses when the original reserve row was altered', async (t) => {
  const alterations: Readonly<Record<string, Partial<LedgerRow>>> = {
    runtime: { runtime: 'gateway_route' },
    profile: { profile: 'gateway.chat' },
    operation: { operation_id: 'op_other' },
    amount: { amount_microusd: 1 },
    principal: { evidence: { task_id: 'task_1', principal: 'prn_9' } },
    ledger: { ledger_id: 'led_other' },
    kind: { kind: 'recheck' },
  }
  for (const [name, { before, step }] of Object.entries(steps)) {
    for (const [what, change] of Object.entries(alterations)) {
      const memory = build(before)
      alterRow(memory, 'reserve', change)
      refusesAndKeeps(t, memory, `${name} with another ${what}`, step)
    }
  }
})

t.test('A-091 A-117 a step that names another runtime, profile or operation refuses', async (t) => {
  const wrong: Readonly<Record<string, Partial<Named>>> = {
    runtime: { runtime: 'gateway_route' }, profile: { profile: 'gateway.chat' },
  }
  for (const name of ['contact', 'recheck', 'settle', 'release', 'unknown']) {
    const { before, step } = steps[name] ?? { before: [], step: contact }
    for (const [what, change] of Object.entries(wrong)) {
      refusesAndKeeps(t, build(before), `${name} as another ${what}`, (tx, named) =>
        step(tx, { ...named, ...change }))
    }
    const code = codeOf(() => build(before).transact((tx) => step(tx, binding('op_2'))))
    t.equal(code, 'not_found/reservation_not_found', `${name} of another operation`)
  }
})

t.test('A-117 evidence that binds another operation never settles', async (t) => {
  const memory = build([reserveStep, contact])
  refusesAndKeeps(t, memory, 'settle', (tx, named) => settle(tx, now, {
    ...named, chargedMicrousd: 5, evidence: { ...evidence, operation_id: 'op_2' },
  }))
})

t.test('A-091 each ledger entry of an operation carries its runtime and profile', async (t) => {
  const memory = build([reserveStep, contact, recheck, settleBy(5), recheck])
  const found = findReservation(memory.view(), 'op_1')
  const rows = found ? ledgerRowsOf(memory.view(), found) : []
  t.strictSame(rows.map(({ kind }) => kind), ['reserve', 'contact', 'recheck', 'settle', 'recheck'])
  for (const row of rows) t.hasStrict(row, { runtime: 'alpha_text_native', profile: 'alpha.text' })
})

t.test('a reservation that differs from its rows is refused at the next step', async (t) => {
  const forged = [
    { state: 'reserved' as const }, { bound_microusd: 1 }, { principal: 'prn_9' },
    { task_id: null }, { row_ids: [] }, { row_ids: ['row_none'] },
    { runtime: 'gateway_route' as const }, { overrun: 'accepted' as const },
  ]
  for (const change of forged) {
    const memory = build([reserveStep, contact])
    memory.transact((tx) => {
      const doc = tx.get(collections.openReservations, 'op_1')
      if (doc) tx.put(collections.openReservations, 'op_1', { ...doc, ...change })
    })
    refusesAndKeeps(t, memory, `a forged ${Object.keys(change)[0]}`, settleBy(5))
    t.not(verifyLedger(memory.view()).length, 0, 'the check reports it')
  }
})
