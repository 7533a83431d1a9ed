/** Rows of the paired edge, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { exportedOfEdge } from './exported.js'
import { findEach } from '../state/each.js'
import { carryCodes, carryEdge } from './carry.js'
import { edgeLabel } from './constants.js'
import { edgeCollections } from './rows.js'
import { verifyEdge } from './verify.js'

/** Its collections, what is counted again, and the bytes that its rows name themselves. */
export const edgeRows: CapabilityRows = {
  collections: Object.values(edgeCollections),
  rules: [verifyEdge],
  exported: exportedOfEdge,
  sealed: (view) => findEach(view, edgeCollections.artifacts, ({ doc }) =>
    [{ label: edgeLabel, ref: doc.ref }]),
  carry: carryEdge,
  narrowed: carryCodes,
}
