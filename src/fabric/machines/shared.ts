/** What is asked of a state that several machines share, and of no other. */
import { fail } from '../../base/errors.js'
import { noteMachines } from '../../state/place/machines-note.js'
import type { MachineRow } from '../../state/place/place.js'
import { isPlaced } from '../../state/place/is-placed.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import type { Store } from '../../state/types.js'

/** The shared state behind a store. Throws `rejected` `not_shared`. */
export const sharedOf = (store: Store): PlacedStore => {
  if (isPlaced(store)) return store
  throw fail.rejected('not_shared', 'This state is in a directory of this machine alone.', {
    next: 'Share it with `sallyport state share ADDRESS`, or name another with --state-dir.',
  })
}

/** Machines of a state and the id of this one. */
export interface Machines {
  readonly rows: readonly MachineRow[]
  readonly here: string
}

/** Asks the place. Throws `rejected` `not_shared`, and what `Place` throws. */
export const listMachines = async (store: Store): Promise<Machines> => {
  const shared = sharedOf(store)
  const rows = await shared.place.machines()
  noteMachines(shared, rows)
  return { rows, here: shared.settings.machine }
}
