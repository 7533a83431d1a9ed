/** The service of a world, in this process, and requests to it over its real TLS. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import type { Endpoint } from '../../../src/service/service.js'
import { startService, type ServeOrder, type StartedService } from '../../../src/service/start.js'
import type { World as ProcessWorld } from '../../../src/fabric/world.js'
import type { Placed } from '../../world/world.js'
import type { Stateful } from '../../world/state.js'
import type { Loose, Teardown } from '../../world/place.js'
import { servedDocument, type ServedDocument } from './served-document.js'

/** What is asked. */
export interface Asking {
  /** The token of the session that the state directory keeps, unless one is given; null: none. */
  readonly token?: string | null
  /** Sent as JSON, or as it is where it is text or bytes. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly host?: string
}

/** What came back. */
export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  /** The body as JSON. */
  readonly json: () => Loose
}

/** A service that listens. */
export interface Serving {
  readonly started: StartedService
  readonly token: () => string
  /** One request; rejects where the answer is none that the served description knows. */
  ask(method: string, path: string, asking?: Asking): Promise<Got>
  /** The same, which must succeed; gives the document. */
  get(path: string): Promise<Loose>
  stop(): Promise<void>
}

const bytesOf = (body: unknown): Buffer | null => {
  if (body === undefined) return null
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** One request to `to`, by the client of either scheme. */
export const askBy = (
  send: (options: RequestOptions, heard: (response: IncomingMessage) => void) => ClientRequest,
  to: RequestOptions, asking: Asking,
): Promise<Got> => new Promise((resolve, reject) => {
  const body = bytesOf(asking.body)
  const request = send({
    host: asking.host ?? '127.0.0.1', agent: false, ...to,
    headers: {
      ...(asking.token === null || asking.token === undefined
        ? {} : { Authorization: `Bearer ${asking.token}` }),
      ...(body === null ? {} : {
        'Content-Type': 'application/json',
        ...('Transfer-Encoding' in (asking.headers ?? {})
          ? {} : { 'Content-Length': String(body.length) }),
      }),
      ...asking.headers,
    },
  }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      resolve({
        status: response.statusCode ?? 0, headers: response.headers, bytes,
        json: () => JSON.parse(bytes.toString('utf8')),
      })
    })
  })
  request.on('error', reject)
  request.end(body ?? undefined)
})

/** One request over TLS that trusts the service's own certificate and nothing else. */
export const askOver = (
  { identity }: StartedService, method: string, path: string, asking: Asking,
): Promise<Got> =>
  askBy(httpsRequest, { port: identity.port, method, path, ca: [identity.certificate] }, asking)

/** What the use cases of a service take from a process, as runs of this place have it. */
export const processWorld = (
  { place, clock }: Placed, stop: AbortSignal,
): ProcessWorld => ({
  clock, env: place.env, execArgv: [], home: place.env['HOME'] as string, stop, producer: {},
  places: { stateDir: place.stateDir, configDir: place.configDir },
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
})

/** For tests of what uploads alone leave behind. */
export const takesNothingIn = async (): Promise<{ readonly left: number }> => ({ left: 0 })

/** Starts the service of a world; it stops with the test. */
export const serving = async (
  t: Teardown, world: Placed & Stateful,
  {
    port, endpoints, env = {}, page, houseMs, log, carried, takesIn, public: place,
  }: {
    readonly port?: number
    /** HOST:PORT for devices of other machines; left out: they find it nowhere. */
    readonly public?: string
    readonly endpoints?: readonly Endpoint[]
    readonly env?: Readonly<Record<string, string>>
    /** The session that gets a way into the page, or null; left out: there is no page. */
    readonly page?: string | null
    /** How often what waits for its time is looked at, ms. */
    readonly houseMs?: number
    /** Where it tells what it does; left out: nowhere. */
    readonly log?: ServeOrder['log']
    /** What commands carry that it tells; left out: nothing. */
    readonly carried?: ServeOrder['carried']
    /** Takes in what devices stored; left out: as shipped. */
    readonly takesIn?: NonNullable<ServeOrder['takesIn']>
  } = {},
): Promise<Serving> => {
  const { stateDir, configDir } = world.place
  const stopping = new AbortController()
  const process = processWorld(world, stopping.signal)
  const started = await startService({
    world: { ...process, env: { ...process.env, ...env } }, port, pid: 1, carried, public: place,
    place: { stateDir, configDir, clock: world.clock },
    ...(endpoints === undefined ? {} : { endpoints }),
    ...(houseMs === undefined ? {} : { houseMs }),
    ...(log === undefined ? {} : { log }),
    ...(takesIn === undefined ? {} : { takesIn }),
    ...(page === undefined ? {} : { page: { openFor: page } }),
  })
  let stopped: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping.abort()
    return (stopped ??= started.stop())
  }
  t.teardown(stop)
  const token = (): string => loadToken(tokenPath(stateDir)) ?? ''
  let described: ServedDocument | null = null
  const ask: Serving['ask'] = async (method, path, asking = {}) => {
    const got = await askOver(started, method, path, {
      ...asking, token: asking.token === undefined ? token() : asking.token,
    })
    described ??= servedDocument((await askOver(started, 'GET', '/openapi.json', {})).json())
    const wrong = described.wrong(method, path, got)
    if (wrong === null) return got
    throw new Error(`${method} ${path}: ${got.status} is not as described: ${wrong}`)
  }
  return {
    started, token, ask, stop,
    get: async (path) => {
      const got = await ask('GET', path)
      if (got.status !== 200) throw new Error(`${path}: ${got.status} ${got.bytes.toString()}`)
      return got.json()
    },
  }
}
