/** Listening on loopback: both families on one port, or sockets that systemd passed. */
import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { errnoOf } from '../../base/errno.js'
import { fail } from '../../base/errors.js'

/** A server that is not listening yet. */
export type AnyServer = HttpServer | HttpsServer

const families = ['127.0.0.1', '::1'] as const
/** How a machine without IPv6 refuses to listen on ::1. */
const noV6 = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])
const freeTriesMax = 8

const listening = (server: AnyServer, how: object): Promise<AddressInfo | string | null> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(how, () => {
      server.removeListener('error', reject)
      resolve(server.address())
    })
  })

/** Stops listening and ends idle connections; resolves when every connection has ended. */
export const closeServer = (server: AnyServer): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) return resolve()
    server.close(() => resolve())
    server.closeIdleConnections()
  })

const taken = (port: number) => fail.blocked(
  'port_taken', `Somebody listens on port ${port} of this machine.`, {
    next: 'Find out who (ss -tlnp), or choose another port: `sallyport serve --port N`. Devices '
      + 'that were paired with the old one are paired again.',
    details: { port },
  })

const listenOn = async (make: () => AnyServer, port: number): Promise<readonly AnyServer[]> => {
  const servers: AnyServer[] = []
  let chosen = port
  for (const host of families) {
    const server = make()
    try {
      const address = await listening(server, { port: chosen, host, exclusive: true })
      chosen = (address as AddressInfo).port
      servers.push(server)
    } catch (error) {
      if (host === '::1' && servers.length > 0 && noV6.has(errnoOf(error))) continue
      await Promise.all(servers.map(closeServer))
      throw error
    }
  }
  return servers
}

/** Who listens, and where. */
export interface Listening {
  readonly port: number
  readonly servers: readonly AnyServer[]
}

const portOf = (servers: readonly AnyServer[]): number =>
  (servers[0]?.address() as AddressInfo).port

/**
 * Listens on 127.0.0.1 and ::1, on one port of both: the one that is given, or a free one. Throws
 * `blocked` `port_taken` where either is taken, `unauthorized`-like system errors as they are.
 */
export const listenLoopback = async (
  make: () => AnyServer, port: number | null,
): Promise<Listening> => {
  for (let tries = 0; ; tries += 1) {
    try {
      const servers = await listenOn(make, port ?? 0)
      return { port: portOf(servers), servers }
    } catch (error) {
      if (errnoOf(error) !== 'EADDRINUSE') throw error
      if (port !== null) throw taken(port)
      if (tries >= freeTriesMax) throw error
    }
  }
}

const firstPassed = 3
/** All are looked at, so that none is left open unseen; a recipe passes two. */
const passedMax = 64
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Descriptors that systemd passed to this very process; none where it passed none. */
export const passedDescriptors = (
  env: Readonly<Record<string, string | undefined>>, pid: number,
): readonly number[] => {
  const count = Number(env['LISTEN_FDS'] ?? 0)
  if (env['LISTEN_PID'] !== String(pid) || !Number.isSafeInteger(count) || count < 1) return []
  return Array.from({ length: Math.min(count, passedMax) }, (_, at) => firstPassed + at)
}

/**
 * Listens on passed sockets. Throws `rejected` `socket_not_loopback` unless each is a TCP listener
 * on loopback, all on one port.
 */
export const listenPassed = async (
  make: () => AnyServer, descriptors: readonly number[],
): Promise<Listening> => {
  const servers: AnyServer[] = []
  const ports = new Set<number>()
  for (const fd of descriptors) {
    const server = make()
    // What cannot be listened on at all is no listener on loopback either.
    const address = await listening(server, { fd }).catch(() => null)
    servers.push(server)
    if (address === null || typeof address === 'string' || !loopback.has(address.address)) {
      await Promise.all(servers.map(closeServer))
      throw fail.rejected('socket_not_loopback', 'A passed socket does not listen on loopback.', {
        next: 'In the socket unit: ListenStream=127.0.0.1:PORT and ListenStream=[::1]:PORT.',
      })
    }
    ports.add(address.port)
  }
  if (ports.size !== 1) {
    await Promise.all(servers.map(closeServer))
    throw fail.rejected('socket_ports_differ', 'The passed sockets listen on different ports.')
  }
  return { port: portOf(servers), servers }
}
