/** Writing a reply: one JSON document, and headers that keep it from being kept or guessed at. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.js'
import type { Reply } from '../reply.js'
import { lingerMs } from './http-limits.js'
import type { HttpRefusal } from './refusal.js'

/** Version of the interface; fields and endpoints are only ever added under one. */
export const apiVersion = '1'

/** Headers of every reply. */
export const commonHeaders = (requestId: string): Readonly<Record<string, string>> => ({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Sallyport-Api': apiVersion,
  'X-Content-Type-Options': 'nosniff',
  'X-Request-Id': requestId,
})

/**
 * The whole reply to what could not be read as a request, on its raw connection, which ends behind
 * it.
 */
export const rawReply = ({ status, body }: HttpRefusal, requestId: string): string => {
  const text = `${JSON.stringify(body)}\n`
  const headers = {
    ...commonHeaders(requestId), Connection: 'close', 'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
  }
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', text,
  ].join('\r\n')
}

/** Whoever has not taken the end of a reply for so long gets no more of it, ms. */
const takenMsMax = 30_000

/**
 * Ends a reply, and its connection where its end is not taken: it would be held for as long as
 * somebody likes. One that waits behind another reply of its connection has its time afterwards.
 */
export const endTaken = (
  response: ServerResponse, text?: string | Uint8Array, msMax = takenMsMax,
): void => {
  const begin = (): void => {
    const late = setTimeout(() => response.destroy(), msMax).unref()
    response.once('close', () => clearTimeout(late))
  }
  if (response.socket === null) response.once('socket', begin)
  else begin()
  response.end(text)
}

/** The client went away in the middle of a reply, or takes nothing of it: no failure of ours. */
export class ClientGone extends Error {}

/**
 * Until when the whole of a reply has to be taken, however slowly that goes on: answers how many ms
 * are left. A stop of the service leaves it what it leaves to whoever still takes the last reply.
 */
export const takenWithin = (
  { clock, stop }: { readonly clock: Clock; readonly stop: AbortSignal }, msMax: number,
): (() => number) => {
  let end = clock.monotonicMs() + msMax
  let stopping = false
  return () => {
    const now = clock.monotonicMs()
    if (stop.aborted && !stopping) end = Math.min(end, now + lingerMs)
    stopping = stop.aborted
    return end - now
  }
}

/** How often a reply that waits is looked at, ms. */
const lookMs = 500

/** Waits until the client takes more of a reply. Rejects with `ClientGone` once no time is left. */
export const roomIn = (
  response: ServerResponse, leftMs: () => number, everyMs = lookMs,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearInterval(looks)
      response.off('drain', more).off('close', gone)
    }
    const more = (): void => {
      end()
      resolve()
    }
    const gone = (): void => {
      end()
      reject(new ClientGone('the client takes no more'))
    }
    // A reply that waits behind another one is not told that its connection has ended.
    const look = (): void => {
      if (leftMs() <= 0 || response.req.socket.destroyed) gone()
    }
    const looks = setInterval(look, everyMs)
    if (response.destroyed) return gone()
    response.once('drain', more).once('close', gone)
    look()
  })

/** How long, and for how many bytes, a body goes on being taken behind its refusal. */
const leftMsMax = 5_000
const leftBytesMax = 64 * 1024 * 1024

/**
 * Sends a whole reply while the body of its request still comes, and ends the connection once that
 * has come, unread: a connection that is closed over bytes on their way takes the reply with it,
 * and a client that is still sending never learns why it was refused.
 */
const endBehindBody = (
  request: IncomingMessage, response: ServerResponse, text: string, msMax = leftMsMax,
): void => {
  let left = leftBytesMax
  const end = (): void => {
    clearTimeout(late)
    request.off('data', drop).off('end', end).off('close', end)
    endTaken(response)
  }
  const drop = ({ length }: Buffer): void => {
    left -= length
    if (left < 0) end()
  }
  const late = setTimeout(end, msMax).unref()
  response.write(text)
  request.on('data', drop).once('end', end).once('close', end)
  request.resume()
}

/** Whether a body is on its way that nobody asked the client to keep back. */
const isComing = ({ complete, readableEnded, destroyed, headers }: IncomingMessage): boolean =>
  !complete && !readableEnded && !destroyed && headers.expect === undefined

interface Sending {
  readonly requestId: string
  readonly reply: Reply
  /** Whether the connection ends behind it. */
  readonly last: boolean
}

/** Sends a reply; a connection whose request was not read to its end is closed behind it. */
export const send = (
  request: IncomingMessage, response: ServerResponse, { requestId, reply, last }: Sending,
): void => {
  if (response.headersSent || response.destroyed) return void response.destroy()
  // As text it goes out in one piece with its head.
  const text = reply.text ?? `${JSON.stringify(reply.body)}\n`
  const unread = !request.complete && !request.readableEnded
  response.writeHead(reply.status, {
    ...commonHeaders(requestId), ...reply.headers,
    ...(reply.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(unread || last ? { Connection: 'close' } : {}),
    'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)),
  })
  if (isComing(request)) endBehindBody(request, response, text)
  else endTaken(response, text)
}
