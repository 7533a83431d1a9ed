import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { patienceMs } from '../speed.js'

/** What came back; `error` is the code of a connection that failed, then the rest is partial. */
export interface Reply {
  readonly status: number | null
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** False when the connection ended before the reply was whole. */
  readonly whole: boolean
  readonly error: string | null
}

/** One request on a fresh connection. */
export interface Ask {
  readonly url: string
  readonly ca: string
  readonly body?: unknown
  readonly bytes?: Buffer
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Milliseconds until the client gives up; then `error` is `gave_up`. */
  readonly giveUpMs?: number
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.message)

/** Posts over real TLS with Node's own client; never throws for what the other side does. */
export const post = (ask: Ask): Promise<Reply> =>
  new Promise((resolve) => {
    const bytes = ask.bytes ?? Buffer.from(JSON.stringify(ask.body ?? {}))
    const chunks: Buffer[] = []
    const end = (reply: Partial<Reply>): void => {
      clearTimeout(timer)
      const empty = { status: null, headers: {}, rawHeaders: [], whole: false, error: null }
      resolve({ ...empty, body: Buffer.concat(chunks), ...reply })
      out.destroy()
    }
    const out = request(
      ask.url,
      {
        method: ask.method ?? 'POST',
        ca: ask.ca,
        agent: false,
        rejectUnauthorized: true,
        headers: {
          authorization: 'Bearer any-key',
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'content-length': String(bytes.length),
          ...ask.headers,
        },
      },
      (incoming) => {
        const { headers, rawHeaders } = incoming
        const facts = { status: incoming.statusCode ?? null, headers, rawHeaders }
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => end({ ...facts, whole: incoming.complete }))
        incoming.on('error', (error) => end({ ...facts, error: codeOf(error) }))
        give = () => end({ ...facts, error: 'gave_up' })
      },
    )
    let give = (): void => end({ error: 'gave_up' })
    const timer = setTimeout(() => give(), ask.giveUpMs ?? patienceMs())
    out.on('error', (error) => end({ error: codeOf(error) }))
    out.end(bytes)
  })

/** The reply's body as JSON. */
export const jsonOf = (reply: Reply): Record<string, unknown> =>
  JSON.parse(reply.body.toString('utf8')) as Record<string, unknown>
