/** What takes over, into a state that came into force, what another had narrowed. */
import { canonicalJson } from '../base/canonical.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { collections } from './rows.js'

/**
 * Takes over what one kind of rows had narrowed in `former`; answers how many rows changed. What a
 * capability brings sees the ceiling as it will stand.
 */
export type Carrier = (tx: Tx, now: string, former: View) => number

/**
 * The carrier of a route's one set-up: what `narrower` makes of mine and theirs, with a ceiling
 * that is not above the ledger's.
 */
export const carrySetup = <Setup extends { readonly spend_ceiling_microusd: number }>(
  collection: CollectionSpec<Setup>, id: string, narrower: (mine: Setup, theirs: Setup) => Setup,
): Carrier => (tx, _now, former) => {
  const mine = tx.get(collection, id)
  const theirs = former.get(collection, id)
  if (mine === undefined) return 0
  const [account] = tx.all(collections.ledgerAccounts)
  const limited = theirs === undefined ? mine : narrower(mine, theirs)
  const ceiling = account?.doc.ceiling_microusd ?? mine.spend_ceiling_microusd
  const after = {
    ...limited, spend_ceiling_microusd: Math.min(mine.spend_ceiling_microusd, ceiling),
  }
  if (canonicalJson(after) === canonicalJson(mine)) return 0
  tx.put(collection, id, after)
  return 1
}
