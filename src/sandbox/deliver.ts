import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.js'
import { renderJson } from './lexeme.js'
import type { Draft, RawReply } from './types.js'

/** What delivering a reply needs: the ways out, a clock, and the end of the sandbox. */
interface Outlet {
  readonly response: ServerResponse
  /** The TLS socket under the response; faults write to it past Node's own checks. */
  readonly socket: Socket
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Sends a TCP reset on the connection under TLS. */
  reset(): void
}

export const bodyOf = (draft: Draft): Buffer =>
  draft.bytes ?? Buffer.from(renderJson(draft.json), 'utf8')

/** Resolves when the bytes were taken by the socket; a socket that died is not an error here. */
const write = (socket: Socket, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed || bytes.length === 0) return resolve()
    socket.once('close', resolve)
    socket.write(bytes, () => {
      socket.removeListener('close', resolve)
      resolve()
    })
  })

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve()
    socket.once('close', () => resolve())
  })

const head = (
  status: number, headers: readonly (readonly [string, string])[],
  first = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`,
): Buffer => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`${first}\r\n${lines}\r\n`, 'latin1')
}

/** The bytes of a part given as bytes or as text. */
export const bytesOf = (part: Uint8Array | string): Buffer =>
  typeof part === 'string' ? Buffer.from(part, 'utf8') : Buffer.from(part)

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

const lastChunk = Buffer.from('0\r\n\r\n')

type Framing = 'length' | 'chunked' | 'close' | 'none'

const framingHeaders = (framing: Framing, length: number): [string, string][] => {
  const close: [string, string] = ['Connection', 'close']
  if (framing === 'length') return [['Content-Length', String(length)], close]
  if (framing === 'chunked') return [['Transfer-Encoding', 'chunked'], close]
  return framing === 'close' ? [close] : []
}

const pairs = (headers: RawReply['headers']): readonly (readonly [string, string])[] => {
  if (headers === undefined) return [['Content-Type', 'application/json']]
  return Array.isArray(headers)
    ? (headers as readonly (readonly [string, string])[])
    : Object.entries(headers as Readonly<Record<string, string>>)
}

/** Delivers a reply that a test gave byte for byte. */
const deliverRaw = async (raw: RawReply, out: Outlet): Promise<void> => {
  const { socket, clock, signal } = out
  const status = raw.status ?? 200
  if (raw.delayMs !== undefined) await clock.sleep(raw.delayMs, signal)
  if (raw.verbatim !== undefined) {
    await write(socket, bytesOf(raw.verbatim))
  } else {
    const parts = (raw.chunks ?? (raw.body === undefined ? [] : [raw.body])).map(bytesOf)
    const framing = raw.framing ?? (raw.chunks === undefined ? 'length' : 'chunked')
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const headers = [...pairs(raw.headers), ...framingHeaders(framing, length)]
    await write(socket, head(status, headers, raw.firstLine))
    for (const [at, part] of parts.entries()) {
      if (at > 0 && raw.chunkDelayMs !== undefined) await clock.sleep(raw.chunkDelayMs, signal)
      if (socket.destroyed) return
      // An empty HTTP chunk would end the body, so it is not written as one.
      if (part.length > 0) await write(socket, framing === 'chunked' ? chunk(part) : part)
    }
    if (framing === 'chunked') await write(socket, lastChunk)
  }
  if (raw.end === 'reset') return out.reset()
  if (raw.end === 'hang') return closed(socket)
  socket.end()
}

/** The whole reply through Node's own response, so that the connection may be kept alive. */
const deliverWhole = (draft: Draft, body: Buffer, out: Outlet): Promise<void> =>
  new Promise((resolve) => {
    const { response } = out
    response.once('close', resolve)
    response.once('finish', resolve)
    const framing: [string, string][] =
      draft.wire.framing === 'length'
        ? [['Content-Length', String(body.length)]]
        : draft.wire.framing === 'close'
          ? [['Connection', 'close']]
          : []
    response.writeHead(draft.status, [...draft.headers, ...framing].flat())
    // Two writes make Node use chunked framing where no length was given.
    if (draft.wire.framing === 'chunked') response.write(body.subarray(0, 1))
    response.end(draft.wire.framing === 'chunked' ? body.subarray(1) : body)
  })

const drip = async (bytes: Buffer, dripMs: number, out: Outlet): Promise<void> => {
  for (const byte of bytes) {
    if (out.socket.destroyed) return
    await write(out.socket, Buffer.of(byte))
    await out.clock.sleep(dripMs, out.signal)
  }
  out.socket.end()
}

/** The part of the body sent before a fault strikes: half of it, at least one byte. */
const half = (body: Buffer): Buffer => body.subarray(0, Math.max(1, body.length >> 1))

/** Puts a draft on the wire as its plan says. Resolves when the sandbox has done its part. */
export const deliver = async (draft: Draft, body: Buffer, out: Outlet): Promise<void> => {
  const { wire } = draft
  const { socket } = out
  if (wire.delayMs > 0) await out.clock.sleep(wire.delayMs, out.signal)
  if (socket.destroyed) return
  if (wire.raw !== null) return deliverRaw(wire.raw, out)
  const framed = wire.framing === 'chunked' ? Buffer.concat([chunk(body), lastChunk]) : body
  const start = head(draft.status, [...draft.headers, ...framingHeaders(wire.framing, body.length)])
  switch (wire.mode) {
    case 'whole':
      return deliverWhole(draft, body, out)
    case 'hang_before_headers':
      return closed(socket)
    case 'close_before_headers':
      socket.destroy()
      return
    case 'reset_before_headers':
      return out.reset()
    case 'hang_mid_body':
      await write(socket, Buffer.concat([start, half(framed)]))
      return closed(socket)
    case 'reset_mid_body':
      await write(socket, Buffer.concat([start, half(framed)]))
      return out.reset()
    case 'truncate':
      await write(socket, Buffer.concat([start, half(framed)]))
      socket.end()
      return
    case 'drip':
      await write(socket, start)
      return drip(framed, wire.dripMs, out)
  }
}
