/** Rows of the screenshot source, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { each } from '../state/each.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { runningCollection } from './analysis/analysis-rows.js'
import { digestDueCollection } from './digest/due.js'
import { digestCollections } from './digest/digest-rows.js'
import { verifyDigests } from './digest/verify-digests.js'
import { exportedOfShots } from './exported.js'
import { countedRows } from './observations/recount.js'
import { shotCollections } from './observations/observation-rows.js'
import { idleReceipts } from './receipts/prune.js'
import { receiptCollections } from './receipts/receipt-rows.js'
import { conclusionCollections } from './report/report-rows.js'
import { verifyConclusions } from './report/verify-reports.js'
import { carryShotGates } from './source/carried-gates.js'
import { settingsCollection } from './source/settings.js'
import { shotArtifacts, verifyShots } from './verify-shots.js'

// What of digests and conclusions outlives an old copy that is put back: a text that was asked for
// since is not asked for again by itself. The text itself is gone with the copy that had it.

interface Attempt<Made> {
  readonly number: number
  readonly made: Made | null
}

const carryAttempts = <Made, T extends Attempt<Made>>(
  tx: Tx, former: View, collection: CollectionSpec<T>,
): void => {
  for (const { id, doc } of each(former, collection)) {
    const known = tx.get(collection, id)
    if (known !== undefined && known.number >= doc.number) continue
    tx.put(collection, id, { ...doc, made: known?.made ?? null })
  }
}

/** Keeps the attempts of a state that was replaced, in the record that settles it. */
const carryShots = (tx: Tx, former: View): void => {
  carryAttempts(tx, former, digestCollections.attempts)
  carryAttempts(tx, former, conclusionCollections.conclusions)
}

/** Its collections, what is counted again, and the fingerprints that folders name themselves. */
export const shotRows: CapabilityRows = {
  collections: [
    runningCollection, settingsCollection, ...Object.values(shotCollections),
    ...Object.values(receiptCollections), ...Object.values(digestCollections),
    ...Object.values(conclusionCollections), digestDueCollection,
  ],
  derived: [countedRows],
  rules: [verifyShots, verifyDigests, verifyConclusions],
  exported: exportedOfShots,
  sealed: shotArtifacts,
  carry: carryShots,
  idle: idleReceipts,
  narrowed: carryShotGates,
}
