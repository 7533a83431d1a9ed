/** The folder that the stops of a directory lie in, for tests that look at or spoil its files. */
import type { FileStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'

/** Of an open store that is a directory. */
export const stopsDirOf = (store: Store): string => (store as FileStore).keyPlaces.stops
