import { isoFromMs, type Clock } from '../base/clock.js'
import type { Observer } from '../base/observer.js'
import type { Store } from '../state/types.js'
import type { Principal, Root } from './rows.js'

/** Which face an order came through. */
export type Face = 'cli' | 'service' | 'job'

/** What every governance use case works with: one open store, time, and someone watching. */
export interface Gov {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly face: Face
}

/** An authenticated operator: who, and under which login. */
export interface Session {
  readonly principal: Principal
  readonly root: Root
}

/** Where `run/` lies and what time it is: all that session expiry needs besides rows. */
export interface Place {
  readonly dir: string
  readonly clock: Clock
}

export const placeOf = (at: Gov | Place): Place =>
  'store' in at ? { dir: at.store.dir, clock: at.clock } : at

/** By which rows of a store tell time: that of whoever asks, or of a place that machines share. */
export const clockFor = (store: Store, own: Clock): Clock =>
  store.machine === null ? own : store.clock

/** The wall clock as ISO text: the `now` that in-transaction rules take. */
export const nowIso = (gov: { readonly clock: Clock }): string => isoFromMs(gov.clock.wallMs())

/** One finding of a verification: a stable code, the id it is about, one sentence. */
export interface Problem {
  readonly code: string
  readonly subject: string
  readonly text: string
}
