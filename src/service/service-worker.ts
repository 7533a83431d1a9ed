/**
 * The program of one thread of the service, started by threads.ts only: operations over a store of
 * its own, as it is told.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.js'
import { openState, type WorkPlace } from '../fabric/open-work.js'
import { openingAny } from '../state/store.js'
import type { World } from '../fabric/world.js'
import { lookUp } from '../net/look-up.js'
import { HeldStore } from './held-store.js'
import { keyOf } from './route.js'
import { pageRoutes } from './page/routes.js'
import { routes } from './routes/table.js'
import { perform } from './perform.js'
import { replyOfThrown } from './reply.js'
import type { FromThread, ThreadStart, ToThread } from './threads.js'

type Told<Kind> = Extract<ToThread, { readonly kind: Kind }>

/** Works until the thread is ended. */
class ThreadWork {
  readonly #start: ThreadStart
  readonly #tell: (message: FromThread) => void
  readonly #stopping = new AbortController()
  readonly #place: WorkPlace
  readonly #world: World
  readonly #held: HeldStore

  constructor(start: ThreadStart, tell: (message: FromThread) => void) {
    const { stateDir, configDir, waitMs, env, execArgv, home } = start
    const { signal } = this.#stopping
    this.#start = start
    this.#tell = tell
    this.#place = {
      stateDir, configDir, folds: false, signal, ...(waitMs === undefined ? {} : { waitMs }),
    }
    this.#world = {
      clock: systemClock, env, execArgv, resolve: lookUp, home, stop: signal, producer: {},
      places: { stateDir, configDir },
    }
    this.#held = new HeldStore(this.#place)
  }

  /** Does what it is told; never throws. */
  async hear(told: ToThread): Promise<void> {
    if (told.kind === 'stop') return this.#stopping.abort()
    const { id } = told
    try {
      await (told.kind === 'fold' ? this.#fold(told) : this.#perform(told))
    } catch (thrown) {
      this.#tell({ kind: 'reply', id, reply: replyOfThrown(thrown) })
    }
    this.#tell({ kind: 'done', id })
  }

  /** Opens the state as a process that keeps house, and closes it. */
  async #fold({ id }: Told<'fold'>): Promise<void> {
    const { stateDir, configDir } = this.#start
    const store = await openingAny(() =>
      openState({ stateDir, configDir, foldsForOthers: true }, 'write'))
    store.close()
    this.#tell({ kind: 'reply', id, reply: { status: 200, body: null } })
  }

  async #perform({ id, key, by, asked }: Told<'perform'>): Promise<void> {
    const route = [...routes, ...pageRoutes].find((one) => keyOf(one) === key)
    if (route === undefined) throw new TypeError('a thread was asked for no route')
    // The store is lent for as long as anything of the request goes on.
    await this.#held.use(async (store) => {
      const goingOn: Promise<unknown>[] = []
      const reply = await perform(route, {
        world: this.#world, place: this.#place, store, by, asked,
        goOn: (work) => void goingOn.push(work),
      })
      this.#tell({ kind: 'reply', id, reply })
      await Promise.allSettled(goingOn)
    })
  }
}

if (parentPort !== null) {
  const port = parentPort
  const work = new ThreadWork(workerData as ThreadStart, (message) => port.postMessage(message))
  port.on('message', (told: ToThread) => void work.hear(told))
}
