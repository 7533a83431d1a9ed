/**
 * Opening a state, wherever its truth lies, and making a new one. A state whose STATE says that it
 * is kept at a place has a replica here; every other one is its directory.
 */
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.js'
import { createState } from './create.js'
import { FileStore, type OpenOptions } from './file-store.js'
import { nodeFiles } from './files.js'
import type { PlacedStore } from './place/placed-store.js'
import type { Store } from './types.js'

export type { FileStore, OpenOptions } from './file-store.js'

/** How to make a state directory. */
export interface CreateOptions extends Omit<OpenOptions, 'mode'> {
  /** Sealed for the life of the state directory. */
  readonly profile: Readonly<Record<string, unknown>>
}

/** Loaded for a state that is kept at a place, and for no other. */
let PlacedStores: typeof PlacedStore | undefined

class PlacedNotLoaded extends Error {}

/**
 * What `open` gives, which opens states at once: what a state at a place needs is loaded when the
 * first one turns up, and then `open` runs again. Of a directory nothing more is read than without.
 */
export const openingAny = async <T>(open: () => T): Promise<T> => {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof PlacedNotLoaded)) throw error
    const loaded = await import('./place/placed-store.js')
    PlacedStores = loaded.PlacedStore
    return open()
  }
}

/**
 * Opens a state; one that is kept at a place only within `openingAny`, or behind it. Cheap: reads
 * STATE, the newest manifest and the log's tail; partitions, the key and the lock add-on are loaded
 * when first needed, and a place is asked when something is written.
 * Errors: `no_state`; `damaged` (also `folder_replaced`); `blocked`/`state_too_new`.
 */
export const openStore = (options: OpenOptions): Store => {
  const opened = new FileStore(options)
  if (opened.state.kept_in !== 'place') return opened
  if (PlacedStores !== undefined) return new PlacedStores(opened, options)
  opened.close()
  throw new PlacedNotLoaded()
}

/** Makes a state directory (`conflict`/`state_exists` when something is there) and opens it. */
export const createStore = (options: CreateOptions): Store => {
  const { dir, configDir, profile } = options
  createState({
    dir: resolve(dir), configDir: resolve(configDir), profile,
    files: options.files ?? nodeFiles, nowMs: (options.clock ?? systemClock).wallMs(),
  })
  return new FileStore({ ...options, mode: 'write' })
}
