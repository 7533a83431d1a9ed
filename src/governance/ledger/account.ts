/**
 * The one ledger of a deployment: its creation out of genuinely empty accounting, its ceiling.
 * Nothing here can lower a total or drop a liability.
 */
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'
import { collections, type LedgerAccount, type LedgerRow } from '../rows.js'
import { amountMicrousdMax, checkAmount } from './ledger-limits.js'

/** True only when no account, no row and no reservation was ever written here. */
export const isAccountingEmpty = (view: View): boolean => [
  collections.ledgerAccounts, collections.openReservations, collections.ledgerRows,
  collections.closedReservations,
].every((spec: CollectionSpec<unknown>) => view.range(spec, { limit: 1 }).length === 0)

const ceilingRow = (
  account: LedgerAccount, now: string, ceiling: number, before: number | null,
): LedgerRow => ({
  row_id: newId('row'),
  ledger_id: account.ledger_id,
  // A ceiling belongs to no operation: its row names the ledger itself.
  operation_id: account.ledger_id,
  kind: 'ceiling',
  runtime: null,
  profile: null,
  amount_microusd: ceiling,
  evidence: { ceiling_before_microusd: before },
  previous_row_id: account.last_row_id,
  created_at: now,
})

const writeCeiling = (tx: Tx, account: LedgerAccount, row: LedgerRow): LedgerAccount => {
  const after = {
    ...account,
    ceiling_microusd: row.amount_microusd,
    rows: account.rows + 1,
    last_row_id: row.row_id,
  }
  tx.put(collections.ledgerRows, row.row_id, row)
  tx.put(collections.ledgerAccounts, after.ledger_id, after)
  return after
}

/**
 * Creates the one ledger with its ceiling, 1..1_000_000_000 micro-USD. Throws `blocked`
 * `accounting_not_empty` when anything of an earlier accounting exists, so that a lost account
 * document can never be replaced by a fresh one that forgets liabilities.
 */
export const bootstrapLedger = (tx: Tx, now: string, ceiling: number): LedgerAccount => {
  checkAmount('spend_ceiling', ceiling, 1, amountMicrousdMax)
  if (!isAccountingEmpty(tx)) {
    throw fail.blocked(
      'accounting_not_empty',
      'A ledger is created only where no account, row or reservation exists.',
      { next: 'Run `sallyport state check`.' },
    )
  }
  const account: LedgerAccount = {
    ledger_id: newId('led'),
    ceiling_microusd: ceiling,
    settled_microusd: 0,
    held_microusd: 0,
    unknown_microusd: 0,
    rows: 0,
    last_row_id: null,
    created_at: now,
  }
  return writeCeiling(tx, account, ceilingRow(account, now, ceiling, null))
}

/**
 * The account of the one ledger. Throws `blocked` `ledger_not_unique` when there is none or more
 * than one, and `ceiling_not_positive` when its ceiling is no positive amount.
 */
export const requireAccount = (view: View): LedgerAccount => {
  const accounts = view.all(collections.ledgerAccounts)
  const only = accounts[0]
  if (accounts.length !== 1 || only === undefined || only.id !== only.doc.ledger_id) {
    throw fail.blocked(
      'ledger_not_unique',
      accounts.length === 0
        ? 'There is no deployment ledger yet.'
        : 'The deployment ledger must be exactly one.',
      {
        next: accounts.length === 0
          ? 'Set a spend ceiling with `sallyport alpha setup --spend-ceiling USD`.'
          : 'Run `sallyport state check`.',
        reason: 'ledger_not_unique',
        details: { ledgers: accounts.length },
      },
    )
  }
  if (only.doc.ceiling_microusd < 1) {
    throw fail.blocked('ceiling_not_positive', 'The ledger ceiling must be positive.', {
      next: 'Run `sallyport state check`.', reason: 'ceiling_not_positive',
    })
  }
  return only.doc
}

/**
 * Moves the ceiling, 1..1_000_000_000 micro-USD. A ceiling below what is already consumed is
 * accepted: it takes nothing back, it only refuses every new reservation. The same value writes
 * nothing.
 */
export const setCeiling = (tx: Tx, now: string, ceiling: number): LedgerAccount => {
  checkAmount('spend_ceiling', ceiling, 1, amountMicrousdMax)
  const account = requireAccount(tx)
  const before = account.ceiling_microusd
  if (before === ceiling) return account
  return writeCeiling(tx, account, ceilingRow(account, now, ceiling, before))
}
