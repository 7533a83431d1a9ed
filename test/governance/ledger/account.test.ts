import t from 'tap'
import {
  bootstrapLedger, isAccountingEmpty, requireAccount, setCeiling,
} from '../../../src/governance/ledger/account.js'
import { balances } from '../../../src/governance/ledger/find-reservation.js'
import { markContacted, markUnknown, reserve } from '../../../src/governance/ledger/steps.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections, type LedgerAccount } from '../../../src/governance/rows.js'
import type { CollectionSpec } from '../../../src/state/types.js'
import { Memory } from '../../support/governance/memory.js'
import {
  binding, codeOf, contacted, ledgerOf, now, request,
} from '../../support/governance/ledger.js'

t.test('A-087 A-088 only genuinely empty accounting bootstraps, and only once', async (t) => {
  const memory = ledgerOf()
  t.ok(isAccountingEmpty(memory.view()))
  memory.transact((tx) => bootstrapLedger(tx, now, 500))
  t.equal(balances(memory.view()).ceiling_microusd, 500)
  t.strictSame(verifyLedger(memory.view()), [])
  const again = codeOf(() => memory.transact((tx) => bootstrapLedger(tx, now, 500)))
  t.equal(again, 'blocked/accounting_not_empty')
  t.equal(memory.view().all(collections.ledgerAccounts).length, 1, 'there is one ledger')
})

t.test('A-087 rows or reservations without their account are no empty accounting', async (t) => {
  const parts = ['ledgerRows', 'openReservations', 'closedReservations'] as const
  for (const kept of parts) {
    const memory = contacted()
    memory.transact((tx) => {
      const open = tx.get(collections.openReservations, 'op_1')
      if (open) tx.put(collections.closedReservations, 'op_1', open)
      const wipe = <T>(spec: CollectionSpec<T>): void => {
        for (const { id } of tx.all(spec)) tx.remove(spec, id)
      }
      wipe(collections.ledgerAccounts)
      if (kept !== 'ledgerRows') wipe(collections.ledgerRows)
      if (kept !== 'openReservations') wipe(collections.openReservations)
      if (kept !== 'closedReservations') wipe(collections.closedReservations)
    })
    const code = codeOf(() => memory.transact((tx) => bootstrapLedger(tx, now, 500)))
    t.equal(code, 'blocked/accounting_not_empty', `only ${kept} left`)
  }
})

t.test('A-084 the ledger must be unique and its ceiling positive', async (t) => {
  t.equal(codeOf(() => requireAccount(new Memory().view())), 'blocked/ledger_not_unique')
  const change = (edit: (account: LedgerAccount) => LedgerAccount): string => {
    const memory = ledgerOf(500)
    memory.transact((tx) => {
      const changed = edit(requireAccount(tx))
      tx.put(collections.ledgerAccounts, changed.ledger_id, changed)
    })
    const reserving = codeOf(() => memory.transact((tx) => reserve(tx, now, request())))
    t.not(verifyLedger(memory.view()).length, 0, 'the check reports it')
    t.equal(codeOf(() => requireAccount(memory.view())), reserving, 'no hold is taken either')
    return reserving
  }
  t.equal(change((a) => ({ ...a, ledger_id: 'led_other' })), 'blocked/ledger_not_unique')
  t.equal(change((a) => ({ ...a, ceiling_microusd: 0 })), 'blocked/ceiling_not_positive')
  t.throws(() => change((a) => ({ ...a, ceiling_microusd: -1 })),
    { name: 'ValiError' }, 'no negative row is storable')
})

t.test('a ceiling is an integer of 1 to 1000000000', async (t) => {
  for (const bad of [0, -1, 1.5, 1_000_000_001, Number.NaN, Infinity]) {
    const memory = ledgerOf()
    const code = codeOf(() => memory.transact((tx) => bootstrapLedger(tx, now, bad)))
    t.equal(code, 'rejected/spend_ceiling_out_of_range', String(bad))
    const set = codeOf(() => ledgerOf(5).transact((tx) => setCeiling(tx, now, bad)))
    t.equal(set, 'rejected/spend_ceiling_out_of_range', String(bad))
  }
  t.equal(codeOf(() => ledgerOf(1)), 'none')
  t.equal(codeOf(() => ledgerOf(1_000_000_000)), 'none')
})

t.test('A-089 moving the ceiling leaves every liability as it was', async (t) => {
  const memory = contacted()
  memory.transact((tx) => reserve(tx, now, request({ operationId: 'op_2', bound: 300 })))
  memory.transact((tx) => markContacted(tx, now, binding('op_2')))
  memory.transact((tx) => markUnknown(tx, now, { ...binding('op_2'), reason: 'timeout' }))
  for (const ceiling of [5000, 50, 50, 1, 1000]) {
    memory.transact((tx) => setCeiling(tx, now, ceiling))
    const after = balances(memory.view())
    t.hasStrict(after, { held_microusd: 100, unknown_microusd: 300, consumed_microusd: 400 })
    t.equal(after.ceiling_microusd, ceiling)
    t.equal(after.available_microusd, Math.max(0, ceiling - 400))
  }
  t.strictSame(verifyLedger(memory.view()), [])
  const kinds = memory.view().all(collections.ledgerRows).map(({ doc }) => doc.kind)
  t.equal(kinds.filter((kind) => kind === 'ceiling').length, 5, 'the same value writes no row')
})

t.test('a ceiling below what is consumed refuses new holds and ends no old one', async (t) => {
  const memory = contacted()
  memory.transact((tx) => setCeiling(tx, now, 60))
  const code = codeOf(() =>
    memory.transact((tx) => reserve(tx, now, request({ operationId: 'op_2', bound: 1 }))))
  t.equal(code, 'budget/ceiling_exceeded')
  t.equal(balances(memory.view()).held_microusd, 100)
})
