import { SallyportError } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { requireAccount } from './account.js'

/** The one deployment ledger as a view shows it, for the status of a route; nothing is thrown. */
export type LedgerFacts =
  | { readonly ok: true; readonly ceilingMicrousd: number }
  | { readonly ok: false; readonly problem: 'ledger_not_unique' | 'ceiling_not_positive' }

/** Whether there is exactly one ledger with a positive ceiling, and which ceiling. */
export const ledgerFacts = (view: View): LedgerFacts => {
  try {
    return { ok: true, ceilingMicrousd: requireAccount(view).ceiling_microusd }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const positive = error.code === 'ceiling_not_positive'
    return { ok: false, problem: positive ? 'ceiling_not_positive' : 'ledger_not_unique' }
  }
}
