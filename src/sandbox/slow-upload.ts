/**
 * A capture device that stops in the middle of what it sends, so that a demo can show what becomes
 * of an upload whose pairing ends just then. It sends one request to a service on loopback that
 * shows the given certificate.
 */
import { createHash, randomUUID } from 'node:crypto'
import { request as httpsRequest } from 'node:https'
import { tlsFloor } from '../base/tls-floor.js'

/** Whom it sends to, as whom, and what. */
interface SlowUploadOrder {
  readonly origin: string
  readonly certificate: string
  readonly credential: string
  readonly sequence: number
  readonly capturedAt: string
  readonly bytes: Uint8Array
}

/** An upload of which the first half was taken. */
interface SlowUpload {
  /** Sends the other half; gives the status and the code of the answer. */
  finish(): Promise<{ readonly status: number; readonly code: string | null }>
}

const headOf = ({ bytes, sequence, capturedAt }: SlowUploadOrder): string =>
  Buffer.from(JSON.stringify({
    schema: 'sallyport.edge.upload.input.v1', request_id: randomUUID(), sequence,
    captured_at: capturedAt, sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length, mime: 'image/png', purpose: 'screen_capture',
    policy: { cloud_egress: false, model_egress: false },
  })).toString('base64url')

const codeIn = (text: string): string | null => /"code":"([a-z_]+)"/.exec(text)?.[1] ?? null

/** Begins one; resolves once the service asked for the body and half of it left. */
export const beginSlowUpload = (order: SlowUploadOrder): Promise<SlowUpload> =>
  new Promise((resolve, reject) => {
    const { origin, certificate, credential, bytes } = order
    const half = Math.floor(bytes.length / 2)
    const request = httpsRequest(`${origin}/api/edge/artifacts`, {
      method: 'POST', ca: [certificate], agent: false, ...tlsFloor,
      headers: {
        Authorization: `Bearer ${credential}`, 'Content-Type': 'image/png', Expect: '100-continue',
        'Content-Length': String(bytes.length), 'Sallyport-Edge-Upload': headOf(order),
      },
    })
    const answered = new Promise<{ status: number; code: string | null }>((done, failed) => {
      request.on('error', failed)
      request.on('response', (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
        response.on('error', failed)
        response.on('end', () => done({ status: response.statusCode ?? 0, code: codeIn(text) }))
      })
    })
    answered.catch(reject)
    request.on('continue', () => request.write(bytes.subarray(0, half), () => resolve({
      finish: () => {
        request.end(bytes.subarray(half))
        return answered
      },
    })))
    request.flushHeaders()
  })
