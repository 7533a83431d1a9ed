import t from 'tap'
import { setCeiling } from '../../../src/governance/ledger/account.js'
import {
  markContacted, markUnknown, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import {
  collections, type LedgerAccount, type LedgerRow, type Reservation,
} from '../../../src/governance/rows.js'
import type { Tx } from '../../../src/state/types.js'
import { Memory } from '../../support/governance/memory.js'
import { binding, evidence, ledgerOf, now, request } from '../../support/governance/ledger.js'

/** One settled, one unknown and one reserved operation, and a moved ceiling. */
const busy = (): Memory => {
  const memory = ledgerOf(1000)
  for (const id of ['op_1', 'op_2', 'op_3']) {
    memory.transact((tx) => reserve(tx, now, request({ operationId: id })))
  }
  memory.transact((tx) => markContacted(tx, now, binding('op_1')))
  memory.transact((tx) =>
    settle(tx, now, { ...binding('op_1'), chargedMicrousd: 7, evidence }))
  memory.transact((tx) => markContacted(tx, now, binding('op_2')))
  memory.transact((tx) => markUnknown(tx, now, { ...binding('op_2'), reason: 'timeout' }))
  memory.transact((tx) => setCeiling(tx, now, 900))
  return memory
}

const problemsAfter = (edit: (tx: Tx) => void): readonly string[] => {
  const memory = busy()
  memory.transact(edit)
  return verifyLedger(memory.view()).map(({ code }) => code)
}

const row = (tx: Tx, pick: (row: LedgerRow) => boolean): LedgerRow => {
  const found = tx.all(collections.ledgerRows).find(({ doc }) => pick(doc))
  if (!found) throw new Error('no such row')
  return found.doc
}

const editRow = (
  pick: (row: LedgerRow) => boolean, change: Partial<LedgerRow>,
) => (tx: Tx): void => {
  const found = row(tx, pick)
  tx.put(collections.ledgerRows, found.row_id, { ...found, ...change })
}

const editAccount = (change: Partial<LedgerAccount>) => (tx: Tx): void => {
  const [only] = tx.all(collections.ledgerAccounts)
  if (only) tx.put(collections.ledgerAccounts, only.id, { ...only.doc, ...change })
}

const reservation = (tx: Tx, id: string): Reservation => {
  const { openReservations, closedReservations } = collections
  const found = tx.get(openReservations, id) ?? tx.get(closedReservations, id)
  if (!found) throw new Error('no such reservation')
  return found
}

t.test('a sound ledger has no problem, and neither has an empty store', async (t) => {
  t.strictSame(verifyLedger(busy().view()), [])
  t.strictSame(verifyLedger(new Memory().view()), [])
})

t.test('a changed total, ceiling or row count of the account is found', async (t) => {
  const fields = [
    'ceiling_microusd', 'settled_microusd', 'held_microusd', 'unknown_microusd', 'rows',
  ] as const
  for (const name of fields) {
    t.strictSame(problemsAfter(editAccount({ [name]: 123 })), ['ledger_account_differs'], name)
  }
  t.ok(problemsAfter(editAccount({ ceiling_microusd: 0 })).includes('ceiling_not_positive'))
})

t.test('a changed, removed, added or reordered row is found', async (t) => {
  const isSettle = (r: LedgerRow): boolean => r.kind === 'settle'
  const isReserve = (r: LedgerRow): boolean => r.kind === 'reserve'
  const cases: Readonly<Record<string, [(tx: Tx) => void, string]>> = {
    'another charge': [editRow(isSettle, { amount_microusd: 6 }), 'ledger_account_differs'],
    'another runtime': [editRow(isSettle, { runtime: 'gateway_route' }), 'ledger_row_illegal'],
    'another kind': [editRow(isSettle, { kind: 'manual_settle' }), 'ledger_row_illegal'],
    'another ledger': [editRow(isSettle, { ledger_id: 'led_x' }), 'ledger_row_foreign'],
    'a cut chain': [editRow(isSettle, { previous_row_id: null }), 'ledger_row_stray'],
    'a chain to nowhere': [editRow(isSettle, { previous_row_id: 'row_x' }), 'ledger_row_missing'],
    'a bound above the ceiling': [
      editRow(isReserve, { amount_microusd: 5000 }), 'ledger_ceiling_passed',
    ],
    'a ceiling out of line': [
      editRow((r) => r.kind === 'ceiling', { evidence: { ceiling_before_microusd: 3 } }),
      'ledger_ceiling_broken',
    ],
    'a removed row': [
      (tx) => tx.remove(collections.ledgerRows, row(tx, isSettle).row_id), 'ledger_row_missing',
    ],
    'an added row': [
      (tx) => tx.put(collections.ledgerRows, 'row_x', { ...row(tx, isSettle), row_id: 'row_x' }),
      'ledger_row_stray',
    ],
  }
  for (const [name, [edit, code]] of Object.entries(cases)) {
    t.ok(problemsAfter(edit).includes(code), name)
  }
})

t.test('a chain that loops ends the check with a problem', async (t) => {
  const problems = problemsAfter((tx) => {
    const last = tx.all(collections.ledgerAccounts)[0]?.doc.last_row_id ?? ''
    editRow((r) => r.kind === 'settle', { previous_row_id: last })(tx)
  })
  t.ok(problems.includes('ledger_chain_loop'))
})

t.test('A-089 a dropped or misplaced reservation, or a lost account, is found', async (t) => {
  const { openReservations, closedReservations } = collections
  const cases: Readonly<Record<string, [(tx: Tx) => void, string]>> = {
    dropped: [(tx) => tx.remove(openReservations, 'op_2'), 'reservation_missing'],
    misplaced: [
      (tx) => {
        tx.put(closedReservations, 'op_2', reservation(tx, 'op_2'))
        tx.remove(openReservations, 'op_2')
      },
      'reservation_misplaced',
    ],
    doubled: [
      (tx) => tx.put(openReservations, 'op_1', reservation(tx, 'op_1')), 'reservation_doubled',
    ],
    invented: [
      (tx) => {
        const copied = { ...reservation(tx, 'op_2'), operation_id: 'op_9' }
        tx.put(openReservations, 'op_9', copied)
      },
      'reservation_without_rows',
    ],
    'dropped, though over': [
      (tx) => tx.remove(closedReservations, 'op_1'), 'reservation_missing',
    ],
    'altered, though over': [
      (tx) => tx.put(closedReservations, 'op_1', {
        ...reservation(tx, 'op_1'), charged_microusd: 6,
      }),
      'reservation_differs',
    ],
    'exchanged, though over': [
      (tx) => {
        tx.put(closedReservations, 'op_9', { ...reservation(tx, 'op_1'), operation_id: 'op_9' })
        tx.remove(closedReservations, 'op_1')
      },
      'reservation_missing',
    ],
    'begun again, though over': [
      (tx) => {
        const over = reservation(tx, 'op_1')
        tx.remove(closedReservations, 'op_1')
        reserve(tx, now, request({ operationId: 'op_1' }))
        tx.put(closedReservations, 'op_1', over)
      },
      'ledger_row_illegal',
    ],
    'lost account': [
      (tx) => {
        for (const { id } of tx.all(collections.ledgerAccounts)) {
          tx.remove(collections.ledgerAccounts, id)
        }
      },
      'ledger_row_stray',
    ],
    'second account': [
      (tx) => {
        const [only] = tx.all(collections.ledgerAccounts)
        if (only) {
          tx.put(collections.ledgerAccounts, 'led_2', { ...only.doc, ledger_id: 'led_2' })
        }
      },
      'ledger_not_unique',
    ],
    'misnamed account': [
      editAccount({ ledger_id: 'led_9' }), 'ledger_id_differs',
    ],
  }
  for (const [name, [edit, code]] of Object.entries(cases)) {
    t.ok(problemsAfter(edit).includes(code), name)
  }
})
