/** What becomes of a connection that cannot be read any further. */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { lingerMs, plainLimits } from './limits.js'
import { unreadable, type HttpRefusal } from './refusal.js'
import { rawReply } from './send.js'
import type { UnderWay } from './under-way.js'

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
export const unread = (
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
