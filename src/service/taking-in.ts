/**
 * What devices stored is taken in behind their uploads, so that no device waits for a picture that
 * is looked into. One at a time: what comes meanwhile is taken in by one more look.
 */
import { silentObserver } from '../base/observer.js'
import type { World } from '../fabric/world.js'
import { clockFor, type Gov } from '../governance/context.js'
import type { HeldStore } from './held-store.js'

/**
 * Takes in some of what waits, in a state that is open; answers how much is left. `stop` ends it
 * between two captures.
 */
export type TakesIn = (gov: Gov, stop: AbortSignal) => Promise<{ readonly left: number }>

/** Looks when it is told to, and again where it was told meanwhile. */
export class TakingIn {
  readonly #stop = new AbortController()
  #isAsked = false
  #under: Promise<void> | null = null

  constructor(
    readonly held: HeldStore, readonly world: World, readonly takesIn: TakesIn | undefined,
  ) {}

  /** Resolves when nothing is under way any more; rejects where it could not be done. */
  again(): Promise<void> {
    const { takesIn } = this
    if (takesIn === undefined || this.#stop.signal.aborted) return Promise.resolve()
    this.#isAsked = true
    this.#under ??= this.#all(takesIn)
    return this.#under
  }

  /** What is under way ends soon; what is left waits for the next start. */
  stop(): void {
    this.#stop.abort()
  }

  async #all(takesIn: TakesIn): Promise<void> {
    const { held, world } = this
    const stop = this.#stop.signal
    try {
      while (this.#isAsked && !stop.aborted) {
        this.#isAsked = false
        const { left } = await held.use((store) => takesIn({
          store, clock: clockFor(store, world.clock), observer: silentObserver, face: 'service',
        }, stop))
        if (left > 0) this.#isAsked = true
      }
    } finally {
      // With the last look itself: who asks from now on has another one.
      this.#under = null
    }
  }
}
