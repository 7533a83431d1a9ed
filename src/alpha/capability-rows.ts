/** Rows of the text capability, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { everybodys, isOwnOperation, own } from '../governance/exported.js'
import { keptInputCollection } from './ask/kept-input.js'
import { billingUuidCollection } from './billing-uuids.js'
import { carryAlphaGates } from './narrowings.js'
import { alphaSetupCollection } from './setup.js'

/** Its collections; what tasks and money must agree on is checked for every capability alike. */
export const alphaRows: CapabilityRows = {
  collections: [
    alphaSetupCollection, billingUuidCollection, keptInputCollection,
  ],
  rules: [],
  exported: [
    everybodys(alphaSetupCollection),
    own(billingUuidCollection, (doc, taker) => isOwnOperation(taker, doc.operation_id)),
    own(keptInputCollection, (doc, { owner }) => doc.owner === owner),
  ],
  narrowed: carryAlphaGates,
}
