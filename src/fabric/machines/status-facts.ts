/** What this machine knows of the place of a shared state without asking it. */
import { isoFromMs } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { notedMachines } from '../../state/place/machines-note.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import type { StateStatus } from '../status-contract.js'

type Shared = NonNullable<StateStatus['shared']>

/** How the place is reached lies beside the key: where it cannot be read the rest is told. */
const settingsOf = (store: PlacedStore): Pick<Shared, 'place' | 'machine' | 'machine_id'> => {
  try {
    const { machineName, machine } = store.settings
    return { place: store.place.name, machine: machineName, machine_id: machine }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return { place: null, machine: null, machine_id: null }
  }
}

/** Opens no socket. */
export const sharedFacts = (store: PlacedStore): Shared => {
  const { heardAtMs: heardMs } = store
  return {
    ...settingsOf(store), record: store.replica.end.sequence, machines: notedMachines(store),
    heard_at: heardMs === null ? null : isoFromMs(heardMs),
  }
}
