import type { ClientRequest } from 'node:http'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import fetch from 'node-fetch'
import type { Attempt } from './attempt.js'
import type { CheckedRequest } from './checked-request.js'
import { CollectingDuplex, HeadTooLarge, type Gate } from './collecting-duplex.js'
import { ContactError, noteHead } from './contact-error.js'
import { errorName } from './dial.js'
import { headBytesMax, headersMax, limitHead, type RepliedRequest } from './reply-head.js'
import type { HttpsReply, HttpsRequest } from './types.js'

/**
 * An agent that knows one connection, already dialled and checked, and can make no other: the
 * address stays the one that was checked, and no request goes out beside the authority checks.
 */
class PinnedAgent extends Agent {
  readonly #socket: TLSSocket
  #wire: Duplex | null

  constructor(socket: TLSSocket, wire: Duplex, keepAlive: boolean) {
    // With a finite maxSockets Node would ask to keep a connection that is used only once.
    super({ keepAlive, maxFreeSockets: 1 })
    this.#socket = socket
    this.#wire = wire
  }

  override createConnection(): Duplex {
    const wire = this.#wire
    this.#wire = null
    if (wire === null) throw new Error('the pinned connection is gone')
    return wire
  }

  /** Node hands every request over here before it makes the parser of its reply. */
  addRequest(request: RepliedRequest, ...rest: readonly unknown[]): void {
    limitHead(request)
    const parent = Agent.prototype as unknown as { addRequest(...given: unknown[]): void }
    parent.addRequest.call(this, request, ...rest)
  }

  /** An idle connection keeps no process alive. */
  override keepSocketAlive(): boolean {
    this.#socket.unref()
    return true
  }

  /** Node takes back what it put on the idle connection; each reuse would leave a listener else. */
  override reuseSocket(wire: Duplex, request: ClientRequest): void {
    super.reuseSocket(wire, request)
  }
}

/** A connection on which requests may be made one after the other. */
export class Connection {
  readonly socket: TLSSocket
  readonly agent: PinnedAgent
  /** Name of the last error of the socket, which tells a reset from an early end. */
  lastError: string | null = null
  /** Head of the reply to the present request, once it has come, as a reply without a body. */
  head: HttpsReply | null = null
  readonly #wire: CollectingDuplex
  #free = true
  /** Whether bytes of a request are still on their way to the kernel. */
  #releasing = false
  #onReleased: (() => void) | null = null
  #onFree: (() => void) | null = null

  constructor(socket: TLSSocket, keepAlive: boolean) {
    this.socket = socket
    socket.on('error', (error) => (this.lastError = errorName(error)))
    this.#wire = new CollectingDuplex(socket)
    this.agent = new PinnedAgent(socket, this.#wire, keepAlive)
    this.#wire.on('free', () => {
      this.#wire.hold()
      this.#free = true
      this.#onFree?.()
    })
  }

  /** Takes the connection for one request and resolves to it when Node has written it whole. */
  collect(bodyBytes: number): Promise<Buffer> {
    this.head = null
    this.#free = false
    this.#onFree = null
    return this.#wire.collect(bodyBytes)
  }

  /** Sends the collected request through the gate. */
  async release(whole: Buffer, gate: Gate): Promise<void> {
    this.#releasing = true
    await this.#wire.release(whole, gate)
    this.#releasing = false
    this.#onReleased?.()
  }

  /** Whether a reply came before its request had left: what follows would run into its rest. */
  get releasing(): boolean {
    return this.#releasing
  }

  /** Calls back when the request under way has wholly left; it may never. */
  whenReleased(callback: () => void): void {
    this.#onReleased = () => {
      this.#onReleased = null
      callback()
    }
  }

  /** Calls back when Node has wholly read the reply and both sides want to go on; maybe at once. */
  whenFree(callback: () => void): void {
    if (this.#free) callback()
    else this.#onFree = callback
  }

  /** Ends the connection and whatever is under way on it. */
  destroy(): void {
    this.agent.destroy()
    this.#wire.destroy()
  }
}

/** Refuses every coding of the body but plain bytes, in either header that can announce one. */
const requireIdentity = (attempt: Attempt, headers: ReadonlyMap<string, string[]>): void => {
  const plain = (name: string, only: string): boolean =>
    (headers.get(name) ?? []).every((value) => value.trim().toLowerCase() === only)
  if (plain('content-encoding', 'identity') && plain('transfer-encoding', 'chunked')) return
  throw attempt.failure('encoding_refused', `The host ${attempt.host} sent an encoded reply.`)
}

/** A reply with as many header lines as are read is refused: a line behind them would be unseen. */
const requireWholeHead = (
  attempt: Attempt, headers: ReadonlyMap<string, readonly string[]>,
): void => {
  const lines = [...headers.values()].reduce((sum, values) => sum + values.length, 0)
  if (lines < headersMax) return
  throw attempt.failure(
    'reply_malformed', `The host ${attempt.host} sent ${headersMax} header lines or more.`,
    { headers_max: headersMax, head_bytes_max: headBytesMax },
  )
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
  onBytes: HttpsRequest['onReplyBytes'],
): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += buffer.length
    const goesOn = onBytes?.(buffer.length) ?? true
    if (bytes > limit || !goesOn) throw tooLarge(attempt, limit)
    chunks.push(buffer)
  }
  return Buffer.concat(chunks, bytes)
}

/** What Node's HTTP makes of the request and of the reply; nothing leaves before the release. */
const converse = async (
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
  // Every value of every header, as sent: an empty or a repeated one stays visible.
  const received = new Map(Object.entries(response.headers.raw()))
  requireWholeHead(attempt, received)
  const head = { status: response.status, headers: received, body: Buffer.alloc(0) }
  connection.head = head
  requireIdentity(attempt, received)
  const limit = request.replyBytesMax
  if (Number(received.get('content-length')?.[0] ?? 0) > limit) throw tooLarge(attempt, limit)
  const body = await readBody(
    attempt, response.body as AsyncIterable<Buffer> | null, limit, request.onReplyBytes)
  return { ...head, body }
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
  if (connection.head !== null) return cut(attempt, connection)
  return attempt.failure('reset', `The connection to ${attempt.host} ended without a reply.`, {
    system_error: connection.lastError ?? name,
  })
}

const closed = (attempt: Attempt): ContactError =>
  attempt.failure('connect_failed', `The connection to ${attempt.host} was closed.`)

/** The whole request as Node wrote it; nothing of it has left. */
const collected = async (
  attempt: Attempt, writing: Promise<Buffer>, reply: Promise<HttpsReply>,
): Promise<Buffer> => {
  try {
    // A request that Node itself refuses is never written.
    return await attempt.during(Promise.race([writing, reply.then(() => writing)]))
  } catch (error) {
    attempt.check()
    if (error instanceof HeadTooLarge) {
      throw attempt.failure(
        'request_too_large',
        `The head of the request is larger than the limit of ${error.limitBytes} bytes.`,
        { limit_bytes: error.limitBytes },
      )
    }
    throw closed(attempt)
  }
}

interface RequestGate extends Gate { refused: { readonly error: unknown } | null }

/**
 * Every piece passes the fence; the first one passes authority as well, under the fence, so that
 * whoever takes the fence afterwards finds either nothing sent or what was noted.
 */
const gateOf = (attempt: Attempt, connection: Connection, request: HttpsRequest): RequestGate => {
  const { fence } = request
  let isFirst = true
  const pass = async (): Promise<void> => {
    attempt.check()
    await fence?.look()
    if (!isFirst) return
    isFirst = false
    await attempt.ask(() => request.authority('before_first_byte'))
    const { writable, readableLength } = connection.socket
    // What came unasked would be read as the answer.
    if (!writable || readableLength > 0) throw closed(attempt)
    fence?.note('begun')
    attempt.contact = 'possible'
  }
  const enter = async (): Promise<void> => {
    await fence?.take(isFirst, attempt.signal)
    try {
      await pass()
    } catch (error) {
      fence?.give()
      throw error
    }
  }
  const gate: RequestGate = {
    refused: null,
    enter: () => enter().catch((error: unknown) => {
      gate.refuse(error)
      throw error
    }),
    look: async () => fence?.look(),
    refuse: (error) => {
      gate.refused = { error }
    },
    leave(last) {
      if (last) fence?.note('whole')
      fence?.give()
    },
  }
  return gate
}

/** Enters the gate for the first piece. Ends of the attempt are told as what they are. */
const entered = async (attempt: Attempt, gate: RequestGate): Promise<void> => {
  try {
    await gate.enter()
  } catch (error) {
    attempt.check()
    throw error
  }
}

/**
 * Sends one request over a connection that is already up and reads its whole reply. The request is
 * collected whole, then under its fence authority is asked for the last time and the first byte is
 * handed over; from that moment contact is `possible`. Nothing is followed, repeated or decoded;
 * every status is a reply.
 *
 * Throws `request_too_large` or `connect_failed` and what `authority` threw with contact `none`;
 * what the fence threw with the contact there was;
 * `timeout` and `cancelled`; and with contact `possible` `reset`, `truncated`, `reply_malformed`,
 * `reply_too_large` or `encoding_refused`, with the head of the reply (`refusedBy`).
 */
export const exchange = async (
  attempt: Attempt,
  connection: Connection,
  checked: CheckedRequest,
  request: HttpsRequest,
): Promise<HttpsReply> => {
  if (connection.socket.destroyed) throw closed(attempt)
  const writing = connection.collect(request.body?.byteLength ?? 0)
  const reply = converse(attempt, connection, checked, request)
  // Whichever of them ends first is told; the other one's end says nothing more.
  for (const one of [writing, reply]) one.catch(() => undefined)
  const whole = await collected(attempt, writing, reply)
  const gate = gateOf(attempt, connection, request)
  await entered(attempt, gate)
  try {
    const released = connection.release(whole, gate)
    return await attempt.during(Promise.race([reply, released.then(() => reply)]))
  } catch (error) {
    attempt.check()
    if (gate.refused !== null) throw gate.refused.error
    throw noteHead(explain(attempt, connection, error), connection.head)
  }
}
