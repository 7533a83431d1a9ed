/** A store whose truth lies at a place, as whoever looks after its machines asks it. */
import type { Store } from '../types.js'
import type { Invitation } from './invitation.js'
import type { Place, Position } from './place.js'

/** An open store of a shared state. */
export interface SharedStore extends Store {
  readonly keptIn: 'place'
  readonly place: Place
  /** UUID of this machine. */
  readonly machine: string
  readonly machineName: string
  /** The last record that this machine has. */
  position(): Position
  /** When the place was heard last, ms since 1970 by our clock; null where it never was. */
  heardAtMs(): number | null
  /** What an invitation carries of key, profile and server; throws where a part cannot be read. */
  invitable(): Omit<Invitation, 'machine_name' | 'invited_at'>
}

/** Whether several machines share a state. */
export const isShared = (store: Store): store is SharedStore => store.keptIn === 'place'
