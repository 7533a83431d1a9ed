import type { CapabilityDecisions } from '../../governance/capability.js'
import type { Reservation } from '../../governance/rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx } from '../../state/types.js'
import { claimCollection, claimsByOperation } from './claims.js'
import { hasSpend, addSpend } from './spend.js'

/**
 * What a charge that an operator settled changes in the sums of the hour in which its call was
 * claimed: the bound is no longer held, the billed amount counts. Nothing for an operation that is
 * no call of this route, and nothing for an hour whose sums are gone. Money is integer micro-USD.
 */
const moveSettledSpend = (
  tx: Tx, { operation_id, bound_microusd, charged_microusd }: Reservation,
): void => {
  const [found] = rowsUnder(tx, claimCollection, claimsByOperation, { under: [operation_id] })
  const claim = found?.doc
  if (claim === undefined) return
  const key = { purpose: claim.purpose, at: claim.claimed_at }
  if (!hasSpend(tx, key)) return
  addSpend(tx, key, { heldMicrousd: -bound_microusd, settledMicrousd: charged_microusd ?? 0 })
}

/** What people decide about calls: a settled charge leaves the budget that held its bound. */
export const gatewayDecisions: CapabilityDecisions = {
  settledByHand: (_gov, tx, _now, reservation) => moveSettledSpend(tx, reservation),
}
