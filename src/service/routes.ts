/**
 * Routes that are there from the start, and all routes, which have every capability behind them and
 * are loaded once anything else is asked for.
 */
import { Router, type Found, type Placed } from './http/router.js'

/** Finds endpoints. */
export class Routes<Endpoint extends Placed> {
  readonly #loadAll: (() => Promise<readonly Endpoint[]>) | undefined
  #router: Router<Endpoint>
  #all: Promise<void> | null = null

  constructor(first: readonly Endpoint[], loadAll?: () => Promise<readonly Endpoint[]>) {
    this.#router = new Router(first)
    this.#loadAll = loadAll
  }

  /** As `Router.find`, of all routes. */
  async find(method: string, path: string): Promise<Found<Endpoint>> {
    const found = this.#router.match(method, path)
    if (found !== undefined) return found
    await this.loadAll()
    return this.#router.find(method, path)
  }

  /** Loads them. Rejects where the files of the program are gone; the next one tries again. */
  loadAll(): Promise<void> {
    this.#all ??= this.#load()
    return this.#all
  }

  async #load(): Promise<void> {
    if (this.#loadAll === undefined) return
    try {
      this.#router = new Router(await this.#loadAll())
    } catch (error) {
      this.#all = null
      throw error
    }
  }
}
