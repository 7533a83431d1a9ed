import type { CapabilityDecisions } from '../../governance/capability.js'
import type { Reservation } from '../../governance/rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx } from '../../state/types.js'
import { claimCollection, claimsByOperation, type CallClaim } from './claims.js'
import { addSpend, hasSpend, type SpendChange } from './spend.js'

/**
 * What a settled charge changes in the sums of the hour in which its call was claimed: the bound is
 * no longer held, the billed amount counts. The bound of a call that had ended otherwise was given
 * back by that end, which an old copy carried over: what is held there by now is another call's,
 * and what it cost by its receipt counts already. Money is integer micro-USD.
 */
const settledChange = (
  { ended }: CallClaim, { bound_microusd: bound, charged_microusd: charged }: Reservation,
): SpendChange => {
  const found = charged ?? 0
  if (ended === null || ended.outcome === 'charge_unknown') {
    return { heldMicrousd: -bound, settledMicrousd: found }
  }
  return { settledMicrousd: Math.max(0, found - (ended.receipt.cost.amount_microusd ?? 0)) }
}

/** Nothing for an operation that is no call of this route, and for an hour whose sums are gone. */
const moveSettledSpend = (tx: Tx, settled: Reservation): void => {
  const { operation_id } = settled
  const [found] = rowsUnder(tx, claimCollection, claimsByOperation, { under: [operation_id] })
  const claim = found?.doc
  if (claim === undefined) return
  const key = { purpose: claim.purpose, at: claim.claimed_at }
  if (!hasSpend(tx, key)) return
  addSpend(tx, key, settledChange(claim, settled))
}

/** What people decide about calls: a settled charge leaves the budget that held its bound. */
export const gatewayDecisions: CapabilityDecisions = {
  settledByHand: (_gov, tx, _now, reservation) => moveSettledSpend(tx, reservation),
}
