/**
 * Opening a state, wherever its truth lies, and making a new one. A state whose STATE says that it
 * is kept at a place has a replica here; every other one is its directory.
 */
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.js'
import { createState } from './create.js'
import { FileStore, type OpenOptions } from './file-store.js'
import { nodeFiles } from './files.js'
import { PlacedStore } from './place/placed-store.js'
import type { Store } from './types.js'

export type { FileStore, OpenOptions } from './file-store.js'

/** How to make a state directory. */
export interface CreateOptions extends Omit<OpenOptions, 'mode'> {
  /** Sealed for the life of the state directory. */
  readonly profile: Readonly<Record<string, unknown>>
}

/**
 * Opens a state. Cheap: reads STATE, the newest manifest and the log's tail; partitions, the key
 * and the lock add-on are loaded when first needed, and a place is asked when something is written.
 * Errors: `no_state`; `damaged` (also `folder_replaced`); `blocked`/`state_too_new`.
 */
export const openStore = (options: OpenOptions): Store => {
  const opened = new FileStore(options)
  return opened.state.kept_in === 'place' ? new PlacedStore(opened, options) : opened
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
