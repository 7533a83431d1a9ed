/**
 * Routes that are there from the start, and all routes, which have every capability behind them and
 * are loaded once anything else is asked for.
 */
import { Router, type Found } from './http/router.js'
import type { Endpoint, LoadEndpoints } from './service.js'

/** Finds endpoints. */
export class Routes {
  readonly #loadAll: LoadEndpoints | undefined
  #router: Router<Endpoint>
  #all: Promise<void> | null = null

  constructor(first: readonly Endpoint[], loadAll?: LoadEndpoints) {
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
