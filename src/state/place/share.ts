/** Placeholder until the real one lands. */
import type { CreateOptions } from '../store.js'
import type { Invitation } from './invitation.js'
import type { SharedStore } from './shared-store.js'

/** A server, as whoever makes or shares a state names it. */
export interface ServerSettings {
  readonly address: string
  readonly ca: string | null
  readonly password: string | null
  readonly machineName: string
}
/** Makes. */
export const createShared = (
  _options: CreateOptions, _server: ServerSettings,
): Promise<SharedStore> => Promise.reject(new TypeError('not yet'))
/** Joins. */
export const joinShared = (
  _options: Omit<CreateOptions, 'profile'>, _invitation: Invitation,
): Promise<SharedStore> => Promise.reject(new TypeError('not yet'))
