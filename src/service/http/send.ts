/** Writing a reply: one JSON document, and headers that keep it from being kept or guessed at. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Reply } from '../reply.js'
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

/** A reply to be sent. */
export interface Sending {
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
  const text = `${JSON.stringify(reply.body)}\n`
  const unread = !request.complete && !request.readableEnded
  response.writeHead(reply.status, {
    ...commonHeaders(requestId), ...reply.headers,
    ...(reply.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(unread || last ? { Connection: 'close' } : {}),
    'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)),
  })
  response.end(text)
}
