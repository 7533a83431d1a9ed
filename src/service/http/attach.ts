/**
 * Putting the service behind a server. A connection is another's for as long as they like only
 * while they send requests and take replies.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { lingerMs, plainLimits, connectionsMax, waitingMax } from './http-limits.js'
import type { AnyServer } from './listen.js'
import { unreadable, type HttpRefusal } from './refusal.js'
import { rawReply } from './send.js'
import { watchSockets } from './sockets.js'
import { Connections, type UnderWay } from './under-way.js'

// What becomes of a connection that cannot be read any further.

/** Told of what could not be read as a request. */
export type OnUnread = (requestId: string, refused: HttpRefusal) => void

/** Tells why, and ends the connection, also for a client that keeps its own side open. */
const endWith = (socket: Duplex, error: Error, onUnread: OnUnread): void => {
  const [requestId, refused] = [randomUUID(), unreadable(error, plainLimits.maxHeaderSize)]
  socket.end(rawReply(refused, requestId))
  setTimeout(() => socket.destroy(), lingerMs).unref()
  onUnread(requestId, refused)
}

/**
 * A reply into the middle of another one, or ahead of it, would be taken for that one: what is
 * whole is answered first, and the connection ends behind it without another word.
 */
const unread = (
  socket: Duplex, error: Error, underWay: readonly UnderWay[], onUnread: OnUnread,
): void => {
  if (!socket.writable) return void socket.destroy()
  const [first, ...more] = underWay
  const isItsOwn = first !== undefined && more.length === 0
    && !first.request.complete && !first.response.headersSent
  if (first === undefined || isItsOwn) return endWith(socket, error, onUnread)
  const last = underWay.at(-1)
  last?.response.once('close', () => socket.destroy())
}

/** Answers a request; `expectsContinue`: its client waits to be told to send the body. */
export type Handle = (
  request: IncomingMessage, response: ServerResponse, expectsContinue: boolean,
) => void

/** Puts it behind a server. */
export const attach = (
  server: AnyServer, handle: Handle, onUnread: OnUnread = () => undefined,
): AnyServer => {
  const connections = new Connections()
  watchSockets(server)
  const answer = (expectsContinue: boolean) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      if (connections.began(request, response) > waitingMax) return void request.socket.destroy()
      handle(request, response, expectsContinue)
    }
  server.maxConnections = connectionsMax
  // Of more headers than this Node hands over the first alone, without a word: what comes behind
  // them must be judged too. The bytes of a head are bounded all the same.
  server.maxHeadersCount = 0
  server.on('request', answer(false))
  server.on('checkContinue', answer(true))
  server.on('checkExpectation', answer(false))
  server.on('clientError', (error, socket) =>
    unread(socket, error, connections.of(socket), onUnread))
  return server
}
