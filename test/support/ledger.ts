/** What tests ask of the money: that it adds up, and that leftovers are resolved. */
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { silentObserver, type Observer } from '../../src/base/observer.js'
import { recoverState } from '../../src/fabric/recovery.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { collections, type LedgerRow, type Reservation } from '../../src/governance/rows.js'
import type { View } from '../../src/state/types.js'
import type { Stateful } from '../world/state.js'

/** Asserts that ledger and rows agree, and gives the account. */
export const checkLedger = (t: Test, world: Stateful, text = 'the ledger balances') => {
  const view = world.view()
  t.strictSame(verifyLedger(view), [], text)
  return view.all(collections.ledgerAccounts).at(0)?.doc
}

/** Resolves leftovers as the next mutating verb would. */
export const recover = async (
  world: Stateful, clock: Clock = systemClock, observer: Observer = silentObserver,
) => recoverState({ store: world.open('write'), clock, observer, face: 'cli' })

/** The ledger rows of an operation in order; a missing one is left out. */
export const ledgerRowsOf = (view: View, reservation: Reservation): readonly LedgerRow[] =>
  reservation.row_ids.flatMap((id) => view.get(collections.ledgerRows, id) ?? [])
