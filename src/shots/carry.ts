/**
 * What of digests and conclusions outlives an old copy that is put back: a text that was asked for
 * since is not asked for again by itself. The text itself is gone with the copy that had it.
 */
import { each } from '../state/each.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { digestCollections } from './digest/rows.js'
import { conclusionCollections } from './report/rows.js'

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
export const carryShots = (tx: Tx, former: View): void => {
  carryAttempts(tx, former, digestCollections.attempts)
  carryAttempts(tx, former, conclusionCollections.conclusions)
}
