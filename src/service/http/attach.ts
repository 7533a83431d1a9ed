/**
 * Putting the service behind a server: how long and how many its connections may be, and what
 * becomes of one that cannot be read any further. A connection is another's for as long as they
 * like only while they send requests and take replies.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AnyServer } from './listen.js'
import { unreadable } from './refusal.js'
import { rawReply } from './send.js'

const connectionsMax = 512

/** Limits of a plain server. */
export const plainLimits = {
  headersTimeout: 10_000, requestTimeout: 120_000, keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000, maxHeaderSize: 16_384,
  // Without a Host our own refusal is told, with a body.
  requireHostHeader: false,
  // NODE_OPTIONS could make readers of what two read differently.
  insecureHTTPParser: false,
} as const

/** The same for TLS. */
export const tlsLimits = {
  ...plainLimits, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'], handshakeTimeout: 5_000,
} as const

/** Answers a request; `expectsContinue`: its client waits to be told to send the body. */
export type Handle = (
  request: IncomingMessage, response: ServerResponse, expectsContinue: boolean,
) => void

/** Most requests of one connection that wait for each other's replies. */
const waitingMax = 32

/** How long a connection stays behind its last reply, for whoever still takes that, ms. */
const lingerMs = 2_000

interface UnderWay {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Requests of each connection that have no whole reply yet, oldest first. */
class Connections {
  readonly #underWay = new WeakMap<Duplex, Set<UnderWay>>()

  /** Answers how many have no whole reply yet. */
  began(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request
    const all = this.#underWay.get(socket) ?? new Set<UnderWay>()
    const one = { request, response }
    this.#underWay.set(socket, all.add(one))
    response.once('close', () => all.delete(one))
    return all.size
  }

  of(socket: Duplex): readonly UnderWay[] {
    return [...this.#underWay.get(socket) ?? []]
  }
}

/** Tells why, and ends the connection, also for a client that keeps its own side open. */
const endWith = (socket: Duplex, error: Error): void => {
  socket.end(rawReply(unreadable(error, plainLimits.maxHeaderSize), randomUUID()))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/**
 * A reply into the middle of another one, or ahead of it, would be taken for that one: what is
 * whole is answered first, and the connection ends behind it without another word.
 */
const unread = (socket: Duplex, error: Error, underWay: readonly UnderWay[]): void => {
  if (!socket.writable) return void socket.destroy()
  const [first, ...more] = underWay
  const isItsOwn = first !== undefined && more.length === 0
    && !first.request.complete && !first.response.headersSent
  if (first === undefined || isItsOwn) return endWith(socket, error)
  const last = underWay.at(-1)
  last?.response.once('close', () => socket.destroy())
}

const sockets = new WeakMap<AnyServer, Set<Duplex>>()

const watchSockets = (server: AnyServer): void => {
  const all = new Set<Duplex>()
  sockets.set(server, all)
  server.on('connection', (socket: Duplex) => {
    all.add(socket)
    socket.once('close', () => all.delete(socket))
  })
}

/**
 * Ends every connection of a server, whatever it has come to: Node's own `closeAllConnections`
 * knows only those that it reads requests from, and one that it does not know keeps a stop waiting.
 */
export const endAllConnections = (server: AnyServer): void => {
  for (const socket of sockets.get(server) ?? []) socket.destroy()
}

/** Puts it behind a server. */
export const attach = (server: AnyServer, handle: Handle): AnyServer => {
  const connections = new Connections()
  watchSockets(server)
  const answer = (expectsContinue: boolean) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      if (connections.began(request, response) > waitingMax) return void request.socket.destroy()
      handle(request, response, expectsContinue)
    }
  server.maxConnections = connectionsMax
  server.on('request', answer(false))
  server.on('checkContinue', answer(true))
  server.on('checkExpectation', answer(false))
  server.on('clientError', (error, socket) => unread(socket, error, connections.of(socket)))
  return server
}
