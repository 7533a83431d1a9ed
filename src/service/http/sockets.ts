/** All connections of a server, whatever they have come to. */
import type { Duplex } from 'node:stream'
import type { AnyServer } from './listen.js'

const sockets = new WeakMap<AnyServer, Set<Duplex>>()

/** Remembers the connections of a server from now on. */
export const watchSockets = (server: AnyServer): void => {
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
