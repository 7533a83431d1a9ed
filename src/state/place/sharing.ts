/** Placeholder until the real one lands. */
import type { Store } from '../types.js'
import type { ServerSettings } from './share.js'
import type { SharedStore } from './shared-store.js'

/** Shares. */
export const shareDirectory = (_store: Store, _server: ServerSettings): Promise<SharedStore> =>
  Promise.reject(new TypeError('not yet'))
/** Takes back. */
export const unshareDirectory = (_store: SharedStore): Promise<void> =>
  Promise.reject(new TypeError('not yet'))
