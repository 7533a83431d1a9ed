/**
 * One deployment ceiling, several routes that mirror it. Until a gateway
 * route exists the route that set it up first may edit it; from then on the gateway owns it.
 */
import { moneyText, usdText } from '../../base/money.js'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { bootstrapLedger, requireAccount, setCeiling } from '../ledger/account.js'
import { collections, type RouteName } from '../rows.js'

/** Which route may set the ceiling to another value; undefined before the first set-up. */
export const ceilingOwner = (view: View): RouteName | undefined =>
  view.get(collections.ceilingOwner, 'the')?.route

/** Refuses a ceiling that differs from one that another route owns: conflict, HTTP 409. */
export const checkCeiling = (view: View, route: RouteName, requested: number): void => {
  const owner = ceilingOwner(view)
  if (owner === undefined || owner === route || route === 'gateway') return
  const { ceiling_microusd: existing } = requireAccount(view)
  if (requested === existing) return
  throw fail.conflict(
    'ceiling_differs',
    `The spend ceiling is shared and stands at ${moneyText(existing)}; this save names another.`,
    {
      next: 'The gateway has it now. To move it for all routes: `sallyport gateway setup '
        + `--spend-ceiling ${usdText(requested)}\`. To save the rest, name ${usdText(existing)}.`,
      details: { ceiling_microusd: existing },
    },
  )
}

/** Creates the one ledger, or moves the ceiling of the existing one; liabilities stay. */
export const applyCeiling = (tx: Tx, now: string, requested: number): void => {
  const accounts = tx.all(collections.ledgerAccounts)
  if (accounts.length === 0) bootstrapLedger(tx, now, requested)
  else if (requireAccount(tx).ceiling_microusd !== requested) setCeiling(tx, now, requested)
}

/**
 * Notes whose ceiling it is, in the record that publishes r+2: a save that is rolled back must not
 * take the ceiling away from the route that had it.
 */
export const ownCeiling = (tx: Tx, route: RouteName): void => {
  const owner = ceilingOwner(tx)
  if (owner === undefined || route === 'gateway') {
    tx.put(collections.ceilingOwner, 'the', { route })
  }
}
