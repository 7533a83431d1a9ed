/**
 * The service: one process that answers requests of operators and of paired devices over one state
 * directory that it shares with terminals and timers. Every request is judged raw, placed,
 * authenticated, read, authenticated again and performed; nothing of it outlives its reply but what
 * the reply says goes on.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WorkPlace } from '../fabric/open-work.js'
import type { World } from '../fabric/world.js'
import { sweepInputs } from '../alpha/ask/kept-input.js'
import { clockFor, type Gov } from '../governance/context.js'
import { silentObserver } from '../base/observer.js'
import { nothingCarried, type Carried } from '../base/told.js'
import type { Store } from '../state/types.js'
import { hasBody, readBody, requireJson } from './http/body.js'
import { bearerOf, checkRaw, requireLocal, waitOf, type Listener } from './http/raw-check.js'
import { refusal, type HttpRefusal } from './http/refusal.js'
import { Router, type Placed } from './http/router.js'
import { Routes } from './routes.js'
import { send } from './http/send.js'
import { Turns } from './http/turns.js'
import { requireAsker, type Asker } from './asker.js'
import { HeldStore } from './held-store.js'
import { keyOf, type Asked, type Described, type Route } from './route.js'
import { perform } from './perform.js'
import { checkedQuery } from './query.js'
import type { ServiceLog } from './log.js'
import { replyOfThrown, type Reply } from './reply.js'
import { toldReply } from './told.js'
import { TakingIn, type TakesIn } from './taking-in.js'
import type { Threads } from './threads.js'
import { WrongCodes } from './wrong-codes.js'

/** A request on its way. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly expectsContinue: boolean
  /** Says that whoever asks has shown a credential that counts. */
  known(): void
}

/** What an endpoint works with. */
export interface Site {
  readonly world: World
  readonly place: WorkPlace
  readonly held: HeldStore
  readonly threads: Threads
  readonly wrongCodes: WrongCodes
  readonly turns: Turns
  /** What commands carry that it tells. */
  readonly carried: Carried
  goOn(work: Promise<unknown>): void
  /** Has what devices stored taken in, behind the reply. */
  takeIn(): void
}

/** Something that answers at a path; `null`: it has written its reply itself. */
export interface Endpoint extends Placed {
  /** Refuses every peer that is not this machine, and what was forwarded. */
  readonly localOnly?: true
  /** Judges and reads a body itself; left out: a request with one is refused. */
  readonly readsBody?: true
  /** What the description of the service says of it; left out: it is not described. */
  readonly described?: Described
  answer(exchange: Exchange, site: Site): Promise<Reply | null>
}

interface ServiceParts {
  readonly world: World
  readonly place: WorkPlace
  readonly threads: Threads
  /** What commands carry that it tells, asked anew for each reply; left out: nothing. */
  readonly carried?: (() => Carried) | undefined
  readonly endpoints: readonly Endpoint[]
  /**
   * All that is answered, loaded once something else is asked for: whoever starts the service by a
   * first request waits for what answers that one alone. Left out: there is nothing else.
   */
  readonly all?: LoadEndpoints
  /** What is answered where the page listens; left out: there is none. */
  readonly page?: readonly Endpoint[]
  /** Takes in what devices stored; left out: nothing is. */
  readonly takesIn?: TakesIn
  /** What is answered to other machines; left out: nothing. */
  readonly elsewhere?: readonly Endpoint[]
  /** What else is looked at from time to time. */
  readonly keepsHouse?: (gov: Gov) => Promise<unknown>
  /** How often, ms; left out: each minute. */
  readonly houseMs?: number | undefined
  /** Where it tells what it answers; left out: nowhere. */
  readonly log?: ServiceLog | undefined
}

/** Endpoints that are loaded at use; never rejects unless the program itself is gone. */
type LoadEndpoints = () => Promise<readonly Endpoint[]>

/** The open state as this face works with it. */
export const govOf = (store: Store, { clock }: World): Gov =>
  ({ store, clock: clockFor(store, clock), observer: silentObserver, face: 'service' })

/** Whether anybody is behind it; before a byte of the body. Throws as `requireAsker`. */
export const requireSomebody = (
  site: Site, by: Asker, anchor: Route['anchor'] = 'sound',
): Promise<void> => site.held.use((store) => requireAsker(govOf(store, site.world), by, anchor))

const bodyOf = async (
  { body }: Route, { request, response, expectsContinue }: Exchange,
): Promise<Buffer> => {
  if (body === null || (!body.required && !hasBody(request))) {
    if (body === null && hasBody(request)) throw refusal.noBody()
    return Buffer.alloc(0)
  }
  if (!hasBody(request)) throw refusal.needsBody()
  requireJson(request, body.bytesMax)
  return readBody({ request, response, bytesMax: body.bytesMax, expectsContinue })
}

const askedOf = async (route: Route, exchange: Exchange): Promise<Asked> => {
  const { request, params } = exchange
  const query = checkedQuery(route, exchange.query)
  const body = await bodyOf(route, exchange)
  const asked = { params, query, body, waitMs: waitOf(request) }
  route.check?.(asked)
  return asked
}

const performHere = (route: Route, site: Site, by: Asker, asked: Asked): Promise<Reply> => {
  const { world, place, held } = site
  return new Promise((resolve, reject) => {
    // The store is lent for as long as anything of the request goes on.
    site.goOn(held.use(async (store) => {
      const goingOn: Promise<unknown>[] = []
      const goOn = (work: Promise<unknown>): void => void goingOn.push(work)
      resolve(await perform(route, { world, place, store, by, asked, goOn }))
      await Promise.allSettled(goingOn)
    }).catch(reject))
  })
}

/** Whom a request is from. Throws `unauthorized`. */
type FindAsker = (request: IncomingMessage) => Asker

export const operatorEndpoint = (route: Route, askerOf: FindAsker = bearerOf): Endpoint => ({
  method: route.method, path: route.path, described: route, readsBody: true,
  ...(route.localOnly === true ? { localOnly: true } : {}),
  answer: async (exchange, site) => {
    const { request } = exchange
    await site.turns.mine()
    const by = askerOf(request)
    const isHere = route.where === 'here'
    // Where nothing is read and no thread is taken, who asks is looked up once: by the work itself.
    const isLookedUp = hasBody(request) || !isHere
    if (isLookedUp) await requireSomebody(site, by, route.anchor)
    try {
      const asked = await askedOf(route, exchange)
      if (isHere) return await performHere(route, site, by, asked)
      return await site.threads.perform(keyOf(route), by, asked)
    } catch (refused) {
      // What is wrong about a request is told to somebody alone.
      if (!isLookedUp) await requireSomebody(site, by, route.anchor)
      throw refused
    }
  },
})

/** How often what waits for its time is looked at, ms. */
const housekeepingMs = 60_000

/** Answers requests until it is stopped. */
export class Service {
  readonly #site: Site
  readonly #routes: Routes<Endpoint>
  readonly #page: Router<Endpoint>
  readonly #elsewhere: Router<Endpoint>
  readonly #goingOn = new Set<Promise<unknown>>()
  readonly #housekeeping: NodeJS.Timeout
  readonly #keepsHouse: ServiceParts['keepsHouse']
  readonly #taking: TakingIn
  readonly #log: ServiceLog | undefined
  #stopping = false

  constructor(parts: ServiceParts) {
    const { world, place, threads, endpoints, all, page = [], elsewhere = [] } = parts
    const { houseMs = housekeepingMs } = parts
    this.#keepsHouse = parts.keepsHouse
    this.#log = parts.log
    const held = new HeldStore({ ...place, folds: false })
    this.#taking = new TakingIn(held, world, parts.takesIn)
    this.#site = {
      world, place, threads, held,
      goOn: (work) => this.#keep(work), wrongCodes: new WrongCodes(),
      turns: new Turns(() => world.clock.monotonicMs()),
      takeIn: () => this.#keep(this.#taking.again()),
      get carried() { return parts.carried?.() ?? nothingCarried },
    }
    this.#routes = new Routes(endpoints, all)
    this.#page = new Router(page)
    this.#elsewhere = new Router(elsewhere)
    this.#housekeeping = setInterval(() => this.#keep(this.#keepHouse()), houseMs)
    this.#housekeeping.unref()
  }

  /** Answers one request; never throws. */
  async handle(
    request: IncomingMessage, response: ServerResponse, listener: Listener,
    expectsContinue = false,
  ): Promise<void> {
    const requestId = randomUUID()
    const began = this.#site.world.clock.monotonicMs()
    const at: Found = { endpoint: undefined }
    const answered = this.#answer({ request, response, requestId, expectsContinue }, listener, at)
    this.#keep(answered)
    const reply = await answered
    this.#log?.answered({
      requestId, method: request.method ?? '', endpoint: at.endpoint?.path ?? null,
      status: reply?.status ?? response.statusCode, code: codeOf(reply),
      stack: reply?.stack ?? null, tookMs: this.#site.world.clock.monotonicMs() - began,
      elsewhere: listener.elsewhere !== undefined,
    })
    if (reply === null) return
    send(request, response, {
      requestId, reply: toldReply(reply, at.endpoint?.described, this.#site.carried),
      last: this.#stopping,
    })
  }

  /** Tells of what could not be read as a request, and was refused as such. */
  unread(requestId: string, { status, error: { code } }: HttpRefusal, listener: Listener): void {
    this.#log?.answered({
      requestId, method: null, endpoint: null, status, code, stack: null, tookMs: 0,
      elsewhere: listener.elsewhere !== undefined,
    })
  }

  /** Loads what is loaded at use. */
  async loadAll(): Promise<void> {
    await this.#routes.loadAll()
  }

  /** Takes no more requests, waits for what goes on, and closes. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#taking.stop()
    clearInterval(this.#housekeeping)
    const { threads, held } = this.#site
    threads.stop()
    while (this.#goingOn.size > 0) await Promise.allSettled(this.#goingOn)
    await threads.close()
    held.close()
  }

  async #answer(
    exchange: Omit<Exchange, 'params' | 'query' | 'known'>, listener: Listener, at: Found,
  ): Promise<Reply | null> {
    try {
      const { request } = exchange
      checkRaw(request, listener)
      if (this.#stopping) throw refusal.stopping()
      const [path = '', query = ''] = splitOnce(request.url ?? '')
      const { endpoint, params } = await this.#find(listener, request.method ?? '', path)
      at.endpoint = endpoint
      if (endpoint.localOnly === true) requireLocal(request)
      if (endpoint.readsBody !== true && hasBody(request)) throw refusal.noBody()
      const known = (): void => listener.elsewhere?.knows(request.socket)
      return await endpoint.answer(
        { ...exchange, params, query: new URLSearchParams(query), known }, this.#site)
    } catch (thrown) {
      return replyOfThrown(thrown)
    }
  }

  /** What is there for whoever comes to a listener; elsewhere it is told of nothing else. */
  async #find(
    listener: Listener, method: string, path: string,
  ): Promise<ReturnType<Router<Endpoint>['find']>> {
    if (listener.landing !== undefined) return this.#page.find(method, path)
    if (listener.elsewhere === undefined) return this.#routes.find(method, path)
    const found = this.#elsewhere.match(method, path)
    if (found === undefined) throw refusal.host()
    return found
  }

  /** Removes what has had its time and has a long log folded, in a thread. */
  async #keepHouse(): Promise<void> {
    const { held, threads, world } = this.#site
    await held.use((store) => sweepInputs(govOf(store, world)))
    await threads.fold()
    await held.use((store) => this.#keepsHouse?.(govOf(store, world)))
    await this.#taking.again()
  }

  #keep(work: Promise<unknown>): void {
    const kept = work.then(() => undefined, () => undefined)
      .finally(() => this.#goingOn.delete(kept))
    this.#goingOn.add(kept)
  }
}

interface Found { endpoint: Endpoint | undefined }

/** Code of a failure; null for an answer that is none. */
const codeOf = (reply: Reply | null): string | null => {
  const body = reply?.body as { readonly error?: { readonly code?: unknown } } | null | undefined
  return typeof body?.error?.code === 'string' ? body.error.code : null
}

const splitOnce = (target: string): readonly [string, string] => {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}
