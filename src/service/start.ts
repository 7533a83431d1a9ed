/** Starting the service: its lasting key and port, its listeners, and its end. */
import { setMaxListeners } from 'node:events'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import type { Carried } from '../base/told.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { openState, type WorkPlace } from '../fabric/open-work.js'
import { openingAny } from '../state/store.js'
import { sweepUnfinished } from '../fabric/sweep-unfinished.js'
import type { World } from '../fabric/world.js'
import { requireSound } from '../governance/anchored.js'
import { nowIso, type Gov } from '../governance/context.js'
import {
  findService, identityOf, keepService, type ServiceIdentity,
} from '../governance/service/identity.js'
import { holdService, type HeldService } from '../governance/service/running.js'
import type { ServiceRow } from '../governance/rows.js'
import { refuseLeakyRuntime } from '../net/leaky-runtime.js'
import { publicPlaceShape } from '../net/public-place.js'
import { attach, type Handle, type OnUnread } from './http/attach.js'
import { plainLimits, tlsLimits } from './http/http-limits.js'
import { endAllConnections } from './http/sockets.js'
import {
  closeServer, listenLoopback, listenPassed, passedDescriptors, type AnyServer, type Listening,
} from './http/listen.js'
import { ownHosts, type Listener } from './http/raw-check.js'
import { edgeCollections } from '../edge/edge-rows.js'
import { edgeEndpoints, elsewhereEndpoints } from './edge-endpoints.js'
import { listenElsewhere } from './elsewhere.js'
import {
  certificateFileOf, materialOf, Renewal, secureOptions, writeCertificate, type Shows,
} from './material.js'
import { ServiceLog, type LogOrder } from './log.js'
import { PageDesk, type OfferedPage } from './page/desk.js'
import { healthz, withDescription } from './plain-endpoints.js'
import { govOf, operatorEndpoint, Service, type Endpoint } from './service.js'
import type { TakesIn } from './taking-in.js'
import { Threads } from './threads.js'

export const serve = contract({
  name: 'serve',
  input: closedObject({
    port: v.optional(strictInteger(1, 65_535)),
    page: v.optional(v.boolean()),
    open: v.optional(v.boolean()),
    log_requests: v.optional(v.boolean()),
    public: v.optional(publicPlaceShape),
  }),
  output: v.strictObject({
    origin: v.string(), port: v.number(), pin: v.string(),
    /** File with the certificate, for scripts: `curl --cacert`. */
    certificate_file: v.string(), pid: v.number(),
    /** Whether devices that were paired with an earlier port must be paired again. */
    port_changed: v.boolean(),
    /** Null where there is no page. */
    page: v.nullable(v.strictObject({
      url: v.string(),
      /** Private file that leads a browser there, once, within a minute; null: not asked for. */
      open_file: v.nullable(v.string()),
    })),
    /** Where devices of other machines find it; null where they find it nowhere. */
    public: v.nullable(v.strictObject({
      origin: v.string(),
      /** Port of loopback that somebody has to forward connections to. */
      forward_to: v.string(),
      /** Whether it is another port than before: somebody else has that one. */
      port_changed: v.boolean(),
    })),
  }),
  toDocument: ({
    identity, certificateFile, portChanged, pid, page, publicPortChanged,
  }: Served) => ({
    origin: identity.origin, port: identity.port, pin: identity.pin,
    certificate_file: certificateFile, pid, port_changed: portChanged,
    page: page === null ? null : { url: page.url, open_file: page.openFile },
    public: identity.public === null
      ? null : { ...identity.public, port_changed: publicPortChanged },
  }),
})

interface Served {
  readonly identity: ServiceIdentity
  readonly certificateFile: string
  readonly portChanged: boolean
  readonly publicPortChanged: boolean
  readonly pid: number
  /** Null where there is no page; `openFile` null where no way into it was asked for. */
  readonly page: { readonly url: string; readonly openFile: string | null } | null
}

/** A service that listens. */
export interface StartedService extends Served {
  /** What `--open` asked for; null where it was not given. */
  readonly offered: OfferedPage | null
  /** Takes no more requests, waits for what goes on, and closes. */
  stop(): Promise<void>
}

/** How a service is started. */
export interface ServeOrder {
  readonly world: World
  readonly place: WorkPlace
  /** Left out: the port of before, or a free one. */
  readonly port?: number | undefined
  /** Whether a page is served, too; `openFor`: the session that gets a way into it at once. */
  readonly page?: { readonly openFor: string | null } | undefined
  /** HOST:PORT by which devices of other machines find it; left out: they find it nowhere. */
  readonly public?: string | undefined
  /** Endpoints besides those of operators. */
  readonly endpoints?: readonly Endpoint[]
  /** What commands carry that it tells, asked anew for each reply; left out: nothing. */
  readonly carried?: (() => Carried) | undefined
  /** Process that sockets may have been passed to. */
  readonly pid: number
  /** How often what waits for its time is looked at, ms; left out: each minute. */
  readonly houseMs?: number
  /** Takes in what devices stored; left out: it becomes observations. */
  readonly takesIn?: TakesIn
  /** Where it tells what it does; left out: nowhere. */
  readonly log?: Pick<LogOrder, 'write' | 'all'> | undefined
}

const listenFor = (
  make: () => AnyServer, { world, pid }: ServeOrder, port: number | null,
): Promise<Listening> => {
  const passed = passedDescriptors(world.env, pid)
  return passed.length > 0 ? listenPassed(make, passed) : listenLoopback(make, port)
}

const closeAll = (servers: readonly AnyServer[]): Promise<unknown> =>
  Promise.all(servers.map(closeServer))

/** Longest wait for replies to be taken once all of them are given, ms. */
const takenMsMax = 2_000

/** Ends idle connections, and after a while those whose reply nobody takes. */
const endConnections = async (
  servers: readonly AnyServer[], closed: Promise<unknown>,
): Promise<void> => {
  const late = setTimeout(() => {
    for (const server of servers) endAllConnections(server)
  }, takenMsMax)
  for (const server of servers) server.closeIdleConnections()
  await closed
  clearTimeout(late)
}

/** What is answered from the start, by TLS: who lives, and devices. */
const firstEndpoints: readonly Endpoint[] = [healthz, ...edgeEndpoints]

/** All that is answered by TLS: operators besides, and the description of it. */
const allEndpoints = async (
  order: ServeOrder, desk: PageDesk | null,
): Promise<readonly Endpoint[]> => {
  const [{ routes }, { offerEndpoint }] = await Promise.all([
    import('./routes/table.js'), import('./page/endpoints.js'),
  ])
  return withDescription([
    healthz, ...routes.map((one) => operatorEndpoint(one)), ...edgeEndpoints,
    offerEndpoint(desk), ...order.endpoints ?? [],
  ])
}

/** What is answered where the page listens. */
const endpointsOfPage = async (desk: PageDesk | null): Promise<readonly Endpoint[]> =>
  (desk === null ? [] : (await import('./page/endpoints.js')).pageEndpoints(desk))

/** What is loaded at use is loaded by then, ms. */
const loadedMs = 1_000

/** Loads the rest behind the first answer, before an operator waits for it. */
const loadSoon = (service: Service): void => {
  // Where it cannot be loaded, whoever asks for it is told.
  setTimeout(() => void service.loadAll().catch(() => undefined), loadedMs).unref()
}

/** The service behind a server. */
const behind = (service: Service, listener: () => Listener): readonly [Handle, OnUnread] => [
  (request, response, expectsContinue) =>
    void service.handle(request, response, listener(), expectsContinue),
  (requestId, refused) => service.unread(requestId, refused, listener()),
]

/**
 * Listens for the page: plain HTTP, because no browser trusts a certificate that nobody vouches
 * for; loopback alone, on a free port of both families.
 */
const listenForPage = async (service: Service, desk: PageDesk): Promise<readonly AnyServer[]> => {
  let hosts: readonly string[] = []
  const listener = (): Listener => ({ hosts, scheme: 'http', landing: '/' })
  const { port, servers } = await listenLoopback(
    () => attach(createPlainServer(plainLimits), ...behind(service, listener)), null)
  hosts = ownHosts(port)
  desk.listensAt(port)
  return servers
}

const stopAll = async (
  service: Service, servers: readonly AnyServer[], desk: PageDesk | null,
): Promise<void> => {
  desk?.withdraw()
  const closed = closeAll(servers)
  await service.stop()
  await endConnections(servers, closed)
}

/** Has what devices stored become observations. */
const takesInFor = (world: World): TakesIn => async (gov, stop) => {
  const view = requireSound(gov.store)
  if (view.range(edgeCollections.devices, { limit: 1 }).length === 0) return { left: 0 }
  // Loaded once there is a device.
  const [{ takeInCaptures }, { shotsContext }] = await Promise.all([
    import('../shots/captures/take-in.js'), import('../fabric/contexts/shots.js'),
  ])
  return takeInCaptures({ ...shotsContext(world, gov), signal: stop })
}

/** Whether a start brings nothing but what is kept. */
const isAsKept = (
  kept: ServiceRow, now: Pick<ServiceRow, 'port' | 'certificate' | 'public'>,
): boolean =>
  kept.port === now.port && kept.certificate === now.certificate
  && JSON.stringify(kept.public) === JSON.stringify(now.public)

/** Starts it in the place that it holds. */
const startIn = async (order: ServeOrder, gov: Gov, held: HeldService): Promise<StartedService> => {
  const { world, place } = order
  const { stateDir, configDir } = place
  const desk = order.page === undefined ? null : new PageDesk(world.clock, stateDir)
  await sweepUnfinished(gov)
  const before = findService(gov.store, gov.store.read())
  const material = await materialOf(gov)
  const { certificate, newKey } = material
  const shows: (AnyServer & Shows)[] = []
  const renewal = new Renewal(material, shows)
  const log = order.log === undefined
    ? undefined : new ServiceLog({ ...order.log, clock: world.clock })
  const service = new Service({
    log, world, place, carried: order.carried, threads: new Threads({
      stateDir, configDir, home: world.home, env: { ...world.env },
      execArgv: [...world.execArgv],
      ...(place.waitMs === undefined ? {} : { waitMs: place.waitMs }),
    }),
    endpoints: firstEndpoints, all: () => allEndpoints(order, desk),
    page: await endpointsOfPage(desk),
    elsewhere: order.public === undefined ? [] : elsewhereEndpoints,
    houseMs: order.houseMs, keepsHouse: (now) => renewal.look(now),
    takesIn: order.takesIn ?? takesInFor(world),
  })
  let hosts: readonly string[] = []
  const listener = (): Listener => ({ hosts, scheme: 'https' })
  const make = (to: () => Listener) => (): AnyServer => {
    const server = createServer({ ...tlsLimits, ...secureOptions(material) })
    shows.push(server)
    return attach(server, ...behind(service, to))
  }
  const listening = await listenFor(make(listener), order, order.port ?? before?.port ?? null)
  const { port } = listening
  const servers = [...listening.servers]
  hosts = ownHosts(port)
  const stop = (): Promise<void> => stopAll(service, servers, desk)
  loadSoon(service)
  try {
    const elsewhere = await listenElsewhere(make, order.public, before?.public)
    servers.push(...elsewhere.servers)
    const now = {
      port, certificate, ...(elsewhere.row === undefined ? {} : { public: elsewhere.row }),
    }
    const identity = before !== undefined && isAsKept(before, now) ? identityOf(before)
      : await keepService(gov, before, { ...now, ...(newKey === undefined ? {} : { key: newKey }) })
    writeCertificate(stateDir, certificate)
    held.listensAt(identity.origin, identity.public?.origin ?? null)
    if (desk !== null) servers.push(...await listenForPage(service, desk))
    const openFor = order.page?.openFor ?? null
    const offered = desk === null || openFor === null ? null : desk.offer(openFor)
    log?.started({ origin: identity.origin, pid: process.pid, public: identity.public?.origin })
    return {
      identity, certificateFile: certificateFileOf(stateDir),
      portChanged: before !== undefined && before.port !== port,
      publicPortChanged: elsewhere.portChanged,
      pid: process.pid, offered, stop: () => stop().finally(() => log?.stopped()),
      page: desk === null ? null : { url: desk.url, openFile: offered?.openFile ?? null },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Starts the one service of a state. Throws `locked` `service_running`, `blocked` `port_taken`,
 * `rejected` `socket_not_loopback`, and what opening the state throws; then nothing listens.
 */
export const startService = async (order: ServeOrder): Promise<StartedService> => {
  const { world, place } = order
  // What devices and scripts send would be printed, tokens and pictures included.
  refuseLeakyRuntime(world.env, world.execArgv)
  // Each answer that is kept back waits for the end, too: as many as there are connections.
  setMaxListeners(0, world.stop)
  const store = await openingAny(() => openState(place, 'write'))
  try {
    const gov = govOf(store, world)
    const held = await holdService(place.stateDir, nowIso(gov))
    try {
      // An old copy, or a damaged one, knows sessions and pairings that have ended since.
      requireSound(store)
      const started = await startIn(order, gov, held)
      const stop = (): Promise<void> => started.stop().finally(() => held.release())
      return { ...started, stop }
    } catch (error) {
      held.release()
      throw error
    }
  } finally {
    store.close()
  }
}
