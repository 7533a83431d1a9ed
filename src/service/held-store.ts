/**
 * A store that stays open while requests come and go. It is closed and opened anew when it can no
 * longer write (a poisoned log), when its folder was replaced by a restore, when the state was
 * shared or taken back, or when its log has grown while nobody uses it. No view outlives the
 * request that took it. What cannot be opened is told to each request, and the next one tries
 * again.
 */
import { SallyportError } from '../base/errors.js'
import { openState, type WorkPlace } from '../fabric/open-work.js'
import { openingAny } from '../state/store.js'
import type { Store } from '../state/types.js'

interface Held {
  readonly store: Store
  users: number
  /** Closed once its last user is done. */
  retired: boolean
}

/** Failures of a store that opening it anew may end. */
const endedByReopening = ({ kind, code }: SallyportError): boolean =>
  kind === 'damaged' || kind === 'no_state' || code === 'state_moved'

/** Lends one store to many requests. */
export class HeldStore {
  readonly #place: WorkPlace
  #held: Held | null = null
  #closed = false

  constructor(place: WorkPlace) {
    // Whoever waits here keeps everybody waiting.
    this.#place = { ...place, readsWait: false }
  }

  /** Works with the store. Throws what opening throws. */
  async use<T>(work: (store: Store) => Promise<T> | T): Promise<T> {
    const held = await openingAny(() => this.#current())
    held.users += 1
    try {
      return await work(held.store)
    } finally {
      held.users -= 1
      this.#settle(held)
    }
  }

  /** Nobody is lent it any more; it is closed once its last user is done. */
  close(): void {
    this.#closed = true
    if (this.#held !== null) this.#retire(this.#held)
  }

  /** The next user opens it anew. */
  renew(): void {
    if (this.#held !== null) this.#retire(this.#held)
  }

  #current(): Held {
    const held = this.#held
    if (held !== null && isUsable(held.store)) return held
    if (held !== null) this.#retire(held)
    const store = openState(this.#place, 'write')
    const made: Held = { store, users: 0, retired: false }
    if (!this.#closed) this.#held = made
    else made.retired = true
    return made
  }

  #retire(held: Held): void {
    if (this.#held === held) this.#held = null
    held.retired = true
    this.#settle(held)
  }

  #settle({ store, users, retired }: Held): void {
    if (retired && users === 0) store.close()
  }
}

/** Whether a store still reads and writes what its folder holds. */
const isUsable = (store: Store): boolean => {
  try {
    store.read()
    return !store.health().poisoned
  } catch (error) {
    return error instanceof SallyportError && !endedByReopening(error)
  }
}
