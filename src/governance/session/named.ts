/** Which sessions other rows rest on: their rows stay as long as those (see `pruneRoots`). */
import type { Tx } from '../../state/types.js'
import { collections } from '../rows.js'

/** Notes, in the record of a row that names a session, that one does; written once a session. */
export const noteNamed = (tx: Tx, rootId: string): void => {
  const root = tx.get(collections.roots, rootId)
  if (root?.named === false) tx.put(collections.roots, rootId, { ...root, named: true })
}
