/** The folder that the stops of a directory lie in, for tests that look at or spoil its files. */
import { isPlaced } from '../../src/state/place/is-placed.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'

/** Of an open store; of one that machines share, that of this machine. */
export const stopsDirOf = (store: Store): string =>
  (isPlaced(store) ? store.replica : store as FileStore).keyPlaces.stops
