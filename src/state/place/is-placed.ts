/** Whether a store is kept at a place, without loading what such a store needs. */
import type { Store } from '../types.js'
import type { PlacedStore } from './placed-store.js'

export const isPlaced = (store: Store): store is PlacedStore => store.keptIn === 'place'
