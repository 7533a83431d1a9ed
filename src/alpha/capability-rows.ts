/** Rows of the text capability, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { carrySetup } from '../governance/carrier.js'
import { everybodys, isOwnOperation, own } from '../governance/exported.js'
import { each } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { keptInputCollection } from './ask/kept-input.js'
import { billingUuidCollection } from './billing-uuids.js'
import { alphaSetupCollection, alphaSetupId, type AlphaTextSetup } from './setup.js'

// What the set-up of the text capability had narrowed in a state that was replaced.

const narrower = (mine: AlphaTextSetup, theirs: AlphaTextSetup): AlphaTextSetup => ({
  ...mine,
  enabled: mine.enabled && theirs.enabled,
  max_output_tokens: Math.min(mine.max_output_tokens, theirs.max_output_tokens),
  timeout_seconds: Math.min(mine.timeout_seconds, theirs.timeout_seconds),
  request_cost_bound_microusd:
    Math.min(mine.request_cost_bound_microusd, theirs.request_cost_bound_microusd),
})

/** A route that was switched off stays so; limits are the lower ones, the ceiling the ledger's. */
const carryAlphaGates = carrySetup(alphaSetupCollection, alphaSetupId, narrower)

/** An id that settled a question since the backup settles no other one. */
const carryBillingUuids = (tx: Tx, former: View): void => {
  for (const { id, doc } of each(former, billingUuidCollection)) {
    if (tx.get(billingUuidCollection, id) === undefined) tx.put(billingUuidCollection, id, doc)
  }
}

/** Its collections; what tasks and money must agree on is checked for every capability alike. */
export const alphaRows: CapabilityRows = {
  collections: [alphaSetupCollection, billingUuidCollection, keptInputCollection],
  rules: [],
  exported: [
    everybodys(alphaSetupCollection),
    own(billingUuidCollection, (doc, taker) => isOwnOperation(taker, doc.operation_id)),
    own(keptInputCollection, (doc, { owner }) => doc.owner === owner),
  ],
  carry: carryBillingUuids,
  narrowed: carryAlphaGates,
}
