/** Placeholder until the real one lands. */
import type { Store } from '../types.js'
import type { PlacedStore } from './placed-store.js'
import type { Reaching } from './share.js'

/** Shares. */
export const shareDirectory = (_store: Store, _reaching: Reaching): Promise<PlacedStore> =>
  Promise.reject(new TypeError('not yet'))
/** Takes back. */
export const unshareDirectory = (_store: PlacedStore): Promise<void> =>
  Promise.reject(new TypeError('not yet'))
