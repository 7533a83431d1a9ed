/** What the use cases over a whole state directory have in common. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { systemClock, type Clock } from '../../base/clock.js'
import { nodeFiles, type Files } from '../files.js'
import { kernelStateLock, type LockMaker } from '../lock.js'
import { placesOf, type Places } from '../paths.js'

/** Where a state lies and what it is reached through. */
export interface StatePlace {
  readonly dir: string
  readonly configDir: string
  readonly files?: Files
  readonly clock?: Clock
  readonly lock?: LockMaker
  /** Milliseconds to wait for the lock (default 10,000). */
  readonly waitMs?: number
  /** Its abort ends a wait for the lock, see `LockWait`. */
  readonly signal?: AbortSignal | undefined
}

/** A place with its defaults filled in. */
export interface Site {
  readonly dir: string
  readonly configDir: string
  readonly files: Files
  readonly clock: Clock
  readonly lock: LockMaker
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  readonly places: Places
}

/** Fills in the defaults. */
export const siteOf = (place: StatePlace): Site => {
  const dir = resolve(place.dir)
  return {
    dir,
    configDir: resolve(place.configDir),
    files: place.files ?? nodeFiles,
    clock: place.clock ?? systemClock,
    lock: place.lock ?? kernelStateLock,
    waitMs: place.waitMs ?? 10_000,
    signal: place.signal,
    places: placesOf(dir),
  }
}

const stampOf = (clock: Clock): string =>
  new Date(clock.wallMs()).toISOString().replace(/[^0-9TZ]/g, '')

/**
 * A name for a folder of copies: time first, so that names sort by age, and chance last. Two
 * repairs within a millisecond, or after a clock went back, would else want the same folder.
 */
export const asideName = (
  kind: 'repair' | 'restore' | 'salvage' | 'unreadable', clock: Clock,
): string => `${kind}-${stampOf(clock)}-${randomBytes(3).toString('hex')}`
