/** Rows of the screenshot source, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { runningCollection } from './analysis/rows.js'
import { carryShots } from './carry.js'
import { digestCollections } from './digest/rows.js'
import { verifyDigests } from './digest/verify.js'
import { exportedOfShots } from './exported.js'
import { countedRows } from './observations/recount.js'
import { shotCollections } from './observations/rows.js'
import { idleReceipts } from './receipts/prune.js'
import { receiptCollections } from './receipts/rows.js'
import { conclusionCollections } from './report/rows.js'
import { verifyConclusions } from './report/verify.js'
import { carryShotGates } from './source/narrowings.js'
import { settingsCollection } from './source/settings.js'
import { shotArtifacts, verifyShots } from './verify.js'

/** Its collections, what is counted again, and the fingerprints that folders name themselves. */
export const shotRows: CapabilityRows = {
  collections: [
    runningCollection, settingsCollection, ...Object.values(shotCollections),
    ...Object.values(receiptCollections), ...Object.values(digestCollections),
    ...Object.values(conclusionCollections),
  ],
  derived: [countedRows],
  rules: [verifyShots, verifyDigests, verifyConclusions],
  exported: exportedOfShots,
  sealed: shotArtifacts,
  carry: carryShots,
  idle: idleReceipts,
  narrowed: carryShotGates,
}
