/** What documents tell of a state that several machines share. */
import { isShared, type SharedStore } from '../../state/place/shared-store.js'
import type { Store } from '../../state/types.js'
import type { SharedHere } from './machines-contract.js'

/** What a document tells of a shared state; null of one that is in a directory alone. */
export const sharedHere = (store: Store): SharedHere | null =>
  (isShared(store) ? factsOf(store) : null)

/** The same of one that is shared. */
export const factsOf = (store: SharedStore): SharedHere => ({
  stateDir: store.dir, storeId: store.storeId, place: store.place.name,
  machineId: store.machine, machineName: store.machineName, record: store.position().sequence,
})
