/** What documents tell of a state that several machines share. */
import { isPlaced } from '../../state/place/is-placed.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import type { Store } from '../../state/types.js'
import type { SharedHere } from './machines-contract.js'

/** What a document tells of a shared state; null of one that is in a directory alone. */
export const sharedHere = (store: Store): SharedHere | null =>
  (isPlaced(store) ? factsOf(store) : null)

/** The same of one that is shared. */
export const factsOf = (store: PlacedStore): SharedHere => ({
  stateDir: store.dir, storeId: store.storeId, place: store.place.name,
  machineId: store.settings.machine, machineName: store.settings.machineName,
  record: store.replica.end.sequence,
})
