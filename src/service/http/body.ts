/** Reading a body: bounded before a byte is read and while it comes, in bytes and in time. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusal } from './refusal.js'

/** Longest time for a body of a few fields, ms. */
const bodyMsMax = 15_000

const declared = ({ headers }: IncomingMessage): number | null => {
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}

/** Whether a request says that a body follows. */
export const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || (declared(request) ?? 0) > 0

/** Throws `HttpRefusal` unless the body is JSON as it is, of at most so many bytes. */
export const requireJson = (request: IncomingMessage, bytesMax: number): void => {
  const type = (request.headers['content-type'] ?? '').toLowerCase().replace(/\s/g, '')
  if (type !== 'application/json' && type !== 'application/json;charset=utf-8') {
    throw refusal.mediaType('application/json')
  }
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw refusal.mediaType('application/json')
  if ((declared(request) ?? 0) > bytesMax) throw refusal.tooLarge(bytesMax)
}

interface BodyReading {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly bytesMax: number
  /** Whether the client waits to be told to send it. */
  readonly expectsContinue: boolean
  /** Longest time, ms. */
  readonly msMax?: number
}

/** The whole body. Throws `HttpRefusal` where it is too large, too slow or cut short. */
export const readBody = (
  { request, response, bytesMax, expectsContinue, msMax = bodyMsMax }: BodyReading,
): Promise<Buffer> => {
  if (expectsContinue && !request.destroyed) response.writeContinue()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const late = setTimeout(() => end(refusal.slow()), msMax)
    const end = (error: Error | null): void => {
      clearTimeout(late)
      request.off('data', take).off('end', whole).off('close', cut).off('error', cut)
      if (error === null) return resolve(Buffer.concat(chunks, bytes))
      request.pause()
      reject(error)
    }
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > bytesMax) return end(refusal.tooLarge(bytesMax))
      chunks.push(chunk)
    }
    const whole = (): void => end(request.complete ? null : refusal.cutShort())
    const cut = (): void => end(refusal.cutShort())
    // Who went away meanwhile is not told of again.
    if (request.destroyed) return cut()
    request.on('data', take).on('end', whole).on('close', cut).on('error', cut)
  })
}
