/**
 * The leases that one process has at the place. They are renewed while the process lives, and with
 * each record that is placed under them; one that was lost is found out there, before anything
 * leaves.
 */
import { noteSaying } from './closings.js'
import { placeTimes, type Place } from './place.js'

/** A lease is renewed so often within its time. */
const renewalsALease = 5

/** A lease that this process has. */
export interface Lease {
  readonly token: string
  /** Gives it back. A second call does nothing. */
  release(): void
}

/** The leases of one process. */
export class Leases {
  readonly #place: () => Place
  readonly #tokens = new Set<string>()
  /** By what is held: guards and lanes. */
  readonly #ofHolds = new WeakMap<object, Lease>()
  #timer: NodeJS.Timeout | undefined

  constructor(place: () => Place) {
    this.#place = place
  }

  /** Takes a lease that nobody has; null otherwise. */
  async take(name: string, ahead: readonly string[] = []): Promise<Lease | null> {
    const token = await this.#place().take(name, placeTimes.leaseMs, ahead)
    return token === null ? null : this.#keep(token)
  }

  #keep(token: string): Lease {
    this.#tokens.add(token)
    this.#timer ??= setInterval(() => this.#renew(), placeTimes.leaseMs / renewalsALease).unref()
    return {
      token,
      release: () => {
        if (!this.#tokens.delete(token)) return
        if (this.#tokens.size === 0) this.#rest()
        this.#giveBack([token])
      },
    }
  }

  #renew(): void {
    // One that was lost stays in the set: what is placed under it is refused by the place.
    this.#place().renew([...this.#tokens], placeTimes.leaseMs).catch(() => undefined)
  }

  #giveBack(tokens: readonly string[]): void {
    const place = this.#place()
    void noteSaying(place, () => place.release(tokens))
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Remembers which lease something held has. */
  bind<T extends object>(held: T, lease: Lease): T {
    this.#ofHolds.set(held, lease)
    return held
  }

  tokensOf(held: readonly object[]): readonly string[] {
    return held.flatMap((one) => this.#ofHolds.get(one)?.token ?? [])
  }

  /** Gives all back. */
  close(): void {
    this.#rest()
    const tokens = [...this.#tokens]
    if (tokens.length > 0) this.#giveBack(tokens)
    this.#tokens.clear()
  }
}
