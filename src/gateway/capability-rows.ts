/** Rows of the model route, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { everybodys, nobodys, own } from '../governance/exported.js'
import { claimCollection, rootsOfClaims } from './call/claims.js'
import { openCallCollection } from './call/open-calls.js'
import { pauseCollection } from './call/pause.js'
import { spendCollection } from './call/spend.js'
import { carryGateway } from './carry.js'
import { carryGatewayGates } from './narrowings.js'
import { attemptCollection, proofCollection } from './proof.js'
import { gatewayCollection } from './setup.js'

/** Its collections; they contradict nothing that a check could compare them with. */
export const gatewayRows: CapabilityRows = {
  collections: [
    gatewayCollection, proofCollection, attemptCollection, claimCollection,
    spendCollection, openCallCollection, pauseCollection,
  ],
  rules: [],
  exported: [
    everybodys(gatewayCollection), everybodys(proofCollection), nobodys(attemptCollection),
    own(claimCollection, (doc, { owner }) => doc.principal === owner),
    everybodys(spendCollection), nobodys(openCallCollection), everybodys(pauseCollection),
  ],
  rootsNamed: rootsOfClaims,
  carry: carryGateway,
  narrowed: carryGatewayGates,
}
