/** What this machine knows of the place of a shared state without asking it. */
import { isoFromMs } from '../../base/clock.js'
import { notedMachines } from '../../state/place/machines-note.js'
import type { SharedStore } from '../../state/place/shared-store.js'
import type { StateStatus } from '../status-contract.js'

/** Opens no socket. */
export const sharedFacts = (store: SharedStore): NonNullable<StateStatus['shared']> => {
  const heardMs = store.heardAtMs()
  return {
    place: store.place.name, machine: store.machineName, machine_id: store.machine,
    record: store.position().sequence, machines: notedMachines(store),
    heard_at: heardMs === null ? null : isoFromMs(heardMs),
  }
}
