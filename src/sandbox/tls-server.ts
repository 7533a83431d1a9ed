import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { errnoOf } from '../base/errno.js'
import { fail } from '../base/errors.js'
import { tlsFloor } from '../base/tls-floor.js'
import type { TlsMaterial } from './certificates.js'

/** What a server does with a request; it must end or destroy the response itself. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: ConnectionInfo,
) => void

/** The connection a request came by. */
export interface ConnectionInfo {
  /** Counts the connections of this server from 1. */
  readonly number: number
  /** Sends a TCP reset under TLS. */
  reset(): void
}

/** What the server tells about connections. */
interface ConnectionEvents {
  /** Returns the connection's number, counted from 1. */
  onConnect(): number
  /** Awaited by nobody: a connection cannot wait here. */
  onSecure(): void
}

/** A listening server. */
export interface TlsServer {
  readonly port: number
  /** Ends every connection and stops listening; safe to call twice. */
  close(): Promise<void>
}

/** Tries for a free port that both loopback addresses have. */
const portTriesMax = 8

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => {
      server.removeListener('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) return resolve()
    server.close(() => resolve())
  })

const build = (
  tls: TlsMaterial,
  events: ConnectionEvents,
  handler: RequestHandler,
  sockets: Map<Socket, ConnectionInfo>,
): Server => {
  const server = createServer({
    key: tls.keyPem,
    cert: tls.certPem,
    ...tlsFloor,
    ALPNProtocols: ['http/1.1'],
    requestTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 5000,
  })
  // A request names its TLS socket; the raw socket below it is found by the client's port.
  const byPeer = new Map<string, ConnectionInfo>()
  const peer = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`
  server.on('connection', (socket: Socket) => {
    const key = peer(socket)
    const info = { number: events.onConnect(), reset: () => void socket.resetAndDestroy() }
    sockets.set(socket, info)
    byPeer.set(key, info)
    socket.once('close', () => {
      sockets.delete(socket)
      if (byPeer.get(key) === info) byPeer.delete(key)
    })
    socket.on('error', () => undefined)
  })
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined)
    events.onSecure()
  })
  server.on('tlsClientError', () => undefined)
  server.on('clientError', (_error, socket) => socket.destroy())
  server.on('request', (request, response) => {
    const info = byPeer.get(peer(request.socket))
    if (info === undefined) return void request.socket.destroy()
    handler(request, response, info)
  })
  return server
}

const hosts = ['127.0.0.1', '::1'] as const

/** How a machine without IPv6 refuses to listen on ::1. */
const noV6 = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])

/** Listens on both loopback addresses where the machine has both; returns null on a taken port. */
const listenAll = async (make: () => Server, port: number): Promise<Server[] | null> => {
  const servers: Server[] = []
  let chosen = port
  for (const host of hosts) {
    const server = make()
    try {
      chosen = await listen(server, chosen, host)
      servers.push(server)
    } catch (error) {
      if (host === '::1' && noV6.has(errnoOf(error))) continue
      await Promise.all(servers.map(closeServer))
      if (errnoOf(error) === 'EADDRINUSE') return null
      throw error
    }
  }
  return servers
}

/**
 * Starts one TLS server on loopback. `port` 0 takes any free one. Throws `sandbox_port_taken`
 * (conflict) when a named port is in use.
 */
export const startTlsServer = async (
  tls: TlsMaterial,
  port: number,
  events: ConnectionEvents,
  handler: RequestHandler,
): Promise<TlsServer> => {
  const sockets = new Map<Socket, ConnectionInfo>()
  const make = (): Server => build(tls, events, handler, sockets)
  let servers: Server[] | null = null
  for (let tries = 0; servers === null && tries < (port === 0 ? portTriesMax : 1); tries += 1) {
    servers = await listenAll(make, port)
  }
  if (servers === null) {
    throw fail.conflict('sandbox_port_taken', `Port ${port} on loopback is already in use.`, {
      next: 'Stop what runs there (perhaps this sandbox) or start with another --dir.',
      details: { port },
    })
  }
  const started = servers
  return {
    port: (started[0]?.address() as AddressInfo).port,
    close: async () => {
      const ended = Promise.all(started.map(closeServer))
      for (const socket of sockets.keys()) socket.destroy()
      for (const server of started) server.closeAllConnections()
      await ended
    },
  }
}
