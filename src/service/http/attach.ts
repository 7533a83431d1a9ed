/**
 * Putting the service behind a server. A connection is another's for as long as they like only
 * while they send requests and take replies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connectionsMax, waitingMax } from './limits.js'
import type { AnyServer } from './listen.js'
import { watchSockets } from './sockets.js'
import { Connections } from './under-way.js'
import { unread, type OnUnread } from './unread.js'

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
