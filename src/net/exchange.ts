import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import fetch from 'node-fetch'
import type { Attempt } from './attempt.js'
import type { CheckedRequest } from './checked-request.js'
import { ContactError } from './contact-error.js'
import { errorName } from './dial.js'
import type { HttpsReply, HttpsRequest } from './types.js'

/**
 * An agent that knows one connection, already dialled and checked, and can make no other: the
 * address stays the one that was checked, and no request goes out beside the authority checks.
 */
class PinnedAgent extends Agent {
  #socket: TLSSocket | null

  constructor(socket: TLSSocket, keepAlive: boolean) {
    // With a finite maxSockets Node would ask to keep a connection that is used only once.
    super({ keepAlive, maxFreeSockets: 1 })
    this.#socket = socket
  }

  override createConnection(): Duplex {
    const socket = this.#socket
    this.#socket = null
    if (socket === null) throw new Error('the pinned connection is gone')
    return socket
  }
}

/** A connection on which requests may be made one after the other. */
export class Connection {
  readonly socket: TLSSocket
  readonly agent: PinnedAgent
  /** Name of the last error of the socket, which tells a reset from an early end. */
  lastError: string | null = null
  /** Whether the head of a reply to the present request has come. */
  replied = false
  #free = true
  #onFree: (() => void) | null = null

  constructor(socket: TLSSocket, keepAlive: boolean) {
    this.socket = socket
    this.agent = new PinnedAgent(socket, keepAlive)
    socket.on('error', (error) => (this.lastError = errorName(error)))
    socket.on('free', () => {
      this.#free = true
      this.#onFree?.()
    })
  }

  /** Marks the connection as taken by a request. */
  take(): void {
    this.replied = false
    this.#free = false
    this.#onFree = null
  }

  /** Calls back when Node has wholly read the reply and both sides want to go on; maybe at once. */
  whenFree(callback: () => void): void {
    if (this.#free) callback()
    else this.#onFree = callback
  }

  /** Ends the connection and whatever is under way on it. */
  destroy(): void {
    this.agent.destroy()
    this.socket.destroy()
  }
}

/** Refuses every coding of the body but plain bytes, in either header that can announce one. */
const requireIdentity = (attempt: Attempt, headers: ReadonlyMap<string, string[]>): void => {
  const plain = (name: string, only: string): boolean =>
    (headers.get(name) ?? []).every((value) => value.trim().toLowerCase() === only)
  if (plain('content-encoding', 'identity') && plain('transfer-encoding', 'chunked')) return
  throw attempt.failure('encoding_refused', `The host ${attempt.host} sent an encoded reply.`)
}

const tooLarge = (attempt: Attempt, limit: number): ContactError =>
  attempt.failure('reply_too_large', `The reply is larger than the limit of ${limit} bytes.`, {
    limit_bytes: limit,
  })

/** Reads the body as it comes and stops at the first byte over the limit. */
const readBody = async (
  attempt: Attempt,
  body: AsyncIterable<Buffer | string> | null,
  limit: number,
): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    const buffer = Buffer.from(chunk)
    bytes += buffer.length
    if (bytes > limit) throw tooLarge(attempt, limit)
    chunks.push(buffer)
  }
  return Buffer.concat(chunks, bytes)
}

const send = async (
  attempt: Attempt,
  connection: Connection,
  { target, headers }: CheckedRequest,
  request: HttpsRequest,
): Promise<HttpsReply> => {
  const response = await fetch(target.url, {
    method: request.method,
    headers,
    body: request.body === undefined ? null : Buffer.from(request.body),
    agent: connection.agent,
    redirect: 'manual',
    compress: false,
    insecureHTTPParser: false,
    signal: attempt.signal,
  })
  connection.replied = true
  if (response.status < 200) {
    throw attempt.failure('reply_malformed', `The host ${attempt.host} switched protocols.`)
  }
  // Every value of every header, as sent: an empty or a repeated one stays visible.
  const received = new Map(Object.entries(response.headers.raw()))
  requireIdentity(attempt, received)
  const limit = request.replyBytesMax
  if (Number(received.get('content-length')?.[0] ?? 0) > limit) throw tooLarge(attempt, limit)
  const body = await readBody(attempt, response.body as AsyncIterable<Buffer> | null, limit)
  return { status: response.status, headers: received, body }
}

/** The reply ended before its end: by a reset of the connection, or by an orderly close. */
const cut = (attempt: Attempt, connection: Connection): ContactError =>
  connection.lastError === null
    ? attempt.failure('truncated', `The reply of ${attempt.host} ended before its end.`)
    : attempt.failure('reset', `The connection to ${attempt.host} broke off.`, {
        system_error: connection.lastError,
      })

/** What a failed exchange is called. Codes only: messages and causes hold URLs and bytes. */
const explain = (attempt: Attempt, connection: Connection, error: unknown): unknown => {
  if (error instanceof ContactError) return error
  const name = errorName(error)
  if (name.startsWith('HPE_') || name.startsWith('ERR_HTTP')) {
    return attempt.failure('reply_malformed', `The host ${attempt.host} did not answer in HTTP.`, {
      system_error: name,
    })
  }
  if (connection.replied) return cut(attempt, connection)
  return attempt.failure('reset', `The connection to ${attempt.host} ended without a reply.`, {
    system_error: connection.lastError ?? name,
  })
}

/**
 * Sends one request over a connection that is already up and reads its whole reply. From its first
 * step on, contact is `possible`. Nothing is followed, repeated or decoded; every status is a
 * reply.
 *
 * Throws `timeout`, `cancelled`, `reset`, `truncated`, `reply_malformed`, `reply_too_large` or
 * `encoding_refused`.
 */
export const exchange = async (
  attempt: Attempt,
  connection: Connection,
  checked: CheckedRequest,
  request: HttpsRequest,
): Promise<HttpsReply> => {
  attempt.check()
  if (connection.socket.destroyed) {
    throw attempt.failure('connect_failed', `The connection to ${attempt.host} was closed.`)
  }
  connection.take()
  attempt.contact = 'possible'
  try {
    return await attempt.during(send(attempt, connection, checked, request))
  } catch (error) {
    attempt.check()
    throw explain(attempt, connection, error)
  }
}
