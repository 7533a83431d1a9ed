/**
 * The one way out. Every outbound request of the program passes here, in this order: the form of
 * the request, authority, one look-up, authority, the contacted mark, the dial, TLS, the whole
 * request collected, authority, and only then its first byte. Nothing here retries, follows,
 * decodes or remembers.
 */
import { dialableAddresses, literalAddress, type DialAddress, type Reach } from './addresses.js'
import { Attempt } from './attempt.js'
import { checkRequest, type Target } from './checked-request.js'
import { ContactError, noteContact } from './contact-error.js'
import { dial, trustKey, trustRoots, type Trust } from './dial.js'
import { Connection, exchange } from './exchange.js'
import { refuseLeakyRuntime } from './leaky-runtime.js'
import { requirePinnable } from './pin.js'
import type {
  HttpsClient, HttpsClientDeps, HttpsReply, HttpsRequest, PinnedClientDeps, ReachDeps,
} from './types.js'

/**
 * GETs of one operation that share one look-up and may share connections. All three authority
 * checks and the contacted mark run for each request. At most `connectionsMax` connections stay
 * idle; a request never waits for one.
 */
export interface HttpsSession extends HttpsClient {
  /** Ends every connection. Requests under way fail. */
  close(): void
}

/** The one client, and sessions of it for several GETs of one operation. */
export interface SessionClient extends HttpsClient { openSession(): HttpsSession }

/** How a request gets its address and its connection, and what becomes of the connection. */
interface Line {
  resolve(attempt: Attempt, target: Target): Promise<readonly DialAddress[]>
  open(attempt: Attempt, target: Target, addresses: readonly DialAddress[]): Promise<Connection>
  close(connection: Connection, reply: HttpsReply | null): void
}

/** An idle connection older than this is not used again: servers close them without a word. */
const idleMsMax = 2_000
/** How long a request may still be leaving once its reply is there. */
const releaseMsMax = 100
/** Idle connections kept by one session. */
const connectionsMax = 8

/** What a client needs from outside, and which addresses it dials. */
interface Way {
  readonly deps: Omit<ReachDeps, 'loopbackOnly'>
  readonly reach: Reach
}

const lookUp = async (
  { deps, reach }: Way,
  attempt: Attempt,
  { host }: Target,
): Promise<readonly DialAddress[]> => {
  const literal = literalAddress(host)
  if (literal !== null) return dialableAddresses(host, [literal], reach)
  const answer = await attempt.during(
    Promise.resolve()
      .then(() => deps.resolve(host))
      .catch(() => {
        throw attempt.failure('dns_failed', `The name ${host} could not be resolved.`)
      }),
  )
  return dialableAddresses(host, answer, reach)
}

/** The whole of one request. */
const run = async ({ deps }: Way, line: Line, request: HttpsRequest): Promise<HttpsReply> => {
  refuseLeakyRuntime(deps.env, deps.execArgv)
  const checked = checkRequest(request)
  const { target } = checked
  const attempt = new Attempt(deps.clock, target.host, request.timeoutMs, request.signal)
  let connection: Connection | null = null
  let reply: HttpsReply | null = null
  try {
    await attempt.ask(() => request.authority('before_resolve'))
    const addresses = await line.resolve(attempt, target)
    await attempt.ask(() => request.authority('before_dial'))
    await attempt.askToTheEnd(() => request.markContact())
    connection = await line.open(attempt, target, addresses)
    reply = await exchange(attempt, connection, checked, request)
    return reply
  } catch (error) {
    noteContact(error, attempt.contact)
    throw error
  } finally {
    attempt.end()
    if (connection !== null) line.close(connection, reply)
  }
}

/** A connection for one request and no other. */
const freshLine = (way: Way, trust: () => Trust): Line => ({
  resolve: (attempt, target) => lookUp(way, attempt, target),
  open: async (attempt, target, addresses) =>
    new Connection((await dial(attempt, target, addresses, trust())).socket, false),
  close: (connection) => connection.destroy(),
})

/** Connections to one origin, by one look-up, pinned to the address that was reached first. */
class SharedLine implements Line {
  readonly #way: Way
  readonly #trust: () => Trust
  readonly #all = new Set<Connection>()
  readonly #idle: { connection: Connection; sinceMs: number }[] = []
  #origin: string | null = null
  #addresses: readonly DialAddress[] | null = null
  #closed = false

  constructor(way: Way, trust: () => Trust) {
    this.#way = way
    this.#trust = trust
  }

  async resolve(attempt: Attempt, target: Target): Promise<readonly DialAddress[]> {
    this.#origin ??= target.url.origin
    if (this.#closed || this.#origin !== target.url.origin) {
      throw new ContactError('url_refused', 'none', 'A session is open for one host only.')
    }
    // Requests that start together may look up twice; the first answer is the one that stays.
    const found = this.#addresses ?? (await lookUp(this.#way, attempt, target))
    this.#addresses ??= found
    return this.#addresses
  }

  async open(
    attempt: Attempt, target: Target, addresses: readonly DialAddress[],
  ): Promise<Connection> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const { connection, sinceMs } = idle
      const fresh = this.#way.deps.clock.monotonicMs() - sinceMs < idleMsMax
      const { destroyed, readableEnded, readableLength } = connection.socket
      // Bytes that nobody asked for would be read as the answer to the next request.
      if (fresh && !destroyed && !readableEnded && readableLength === 0) return connection
      this.#drop(connection)
    }
    const { socket, address } = await dial(attempt, target, addresses, this.#trust())
    this.#addresses = [address]
    const connection = new Connection(socket, true)
    if (this.#closed) connection.destroy()
    else this.#all.add(connection)
    return connection
  }

  close(connection: Connection, reply: HttpsReply | null): void {
    if (reply === null || this.#closed) return this.#drop(connection)
    if (connection.releasing) return this.#keepReleased(connection)
    this.#keep(connection)
  }

  /**
   * Over a short way a reply is there before the kernel says that its request has left: that is
   * waited for shortly. A reply that came before its request had left is no reason to keep it.
   */
  #keepReleased(connection: Connection): void {
    const late = setTimeout(() => this.#drop(connection), releaseMsMax)
    late.unref()
    connection.whenReleased(() => {
      clearTimeout(late)
      if (!connection.socket.destroyed) this.#keep(connection)
    })
  }

  #keep(connection: Connection): void {
    connection.whenFree(() => {
      if (this.#closed || this.#idle.length >= connectionsMax) return this.#drop(connection)
      this.#idle.push({ connection, sinceMs: this.#way.deps.clock.monotonicMs() })
    })
  }

  closeAll(): void {
    this.#closed = true
    for (const connection of this.#all) this.#drop(connection)
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection)
    connection.destroy()
  }
}

/** `request` by a connection of its own; `openSession` for GETs that share some. */
const clientBy = (way: Way, make: () => Trust): SessionClient => {
  let made: Trust | null = null
  const trust = (): Trust => (made ??= make())
  const fresh = freshLine(way, trust)
  return {
    request: (request) => run(way, fresh, request),
    openSession: () => {
      const shared = new SharedLine(way, trust)
      return {
        request: (request) => run(way, request.method === 'GET' ? shared : fresh, request),
        close: () => shared.closeAll(),
      }
    },
  }
}

/**
 * The client. `request` always takes a fresh connection; `openSession` is for GETs of one
 * operation. Rules that hold for both: https only, verified TLS 1.2 or later against `deps.ca`, no
 * proxy, redirects come back as replies, identity encoding only, addresses checked and pinned,
 * another address of the same look-up only where no TCP connection came about, one deadline.
 *
 * Throws `ContactError`, or what `authority` and `markContact` threw; `contactOf` reads the proof
 * from either.
 */
export const createHttpsClient = (deps: HttpsClientDeps): SessionClient => {
  if (deps.ca.length === 0) throw new RangeError('a client without roots trusts nobody')
  return clientBy(
    { deps, reach: deps.loopbackOnly ? 'loopback' : 'public' }, () => trustRoots(deps.ca))
}

/**
 * The client of one origin that is known by its key alone: the service that a device was paired
 * with, of this machine or of another. In the place of chain, name and time the key of the
 * certificate must be that of `deps.pin`; another key is `tls_failed` with nothing sent. Every
 * other rule is as above. Nothing but `deps.origin` is contacted (`url_refused`); where that is of
 * loopback, nothing else is dialled. See docs/decisions/edge-pin.md.
 *
 * Throws `url_refused` or `pin_refused` at once where origin or pin cannot be such.
 */
export const createPinnedClient = (deps: PinnedClientDeps): HttpsClient => {
  const { origin, reach } = requirePinnable(deps.origin, deps.pin)
  const client = clientBy({ deps, reach }, () => trustKey(deps.pin))
  return {
    async request(request) {
      if (URL.canParse(request.url) && new URL(request.url).origin === origin) {
        return client.request(request)
      }
      throw new ContactError('url_refused', 'none', 'Only the paired origin is contacted.')
    },
  }
}
