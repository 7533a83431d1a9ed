import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import type { TlsMaterial } from './certificates.js'
import { bytesOf, deliver } from './deliver.js'
import type { FaultBoard } from './faults/board.js'
import type { RequestLogWriter } from './log.js'
import { startTlsServer, type ConnectionInfo, type TlsServer } from './tls-server.js'
import {
  jsonDraft, type Draft, type RawReply, type SandboxHooks, type SeenRequest, type ServiceModule,
} from './types.js'

/** What every service of one sandbox shares. */
export interface Shared {
  readonly tls: TlsMaterial
  readonly clock: Clock
  readonly log: RequestLogWriter
  readonly faults: FaultBoard
  readonly hooks: SandboxHooks
  /** Keeps large bodies in the log, whatever the service says. */
  readonly keepBodies: boolean
  /** Aborted when the sandbox stops, so that nothing waits on. */
  readonly signal: AbortSignal
}

/** No service takes more; a longer body ends the connection. */
const bodyBytesMax = 64 * 1024 * 1024
/** Longer bodies are let go after the reply where the service says so. */
const largeBodyBytes = 64 * 1024

const headersOf = (raw: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const headers = new Map<string, string[]>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), raw[at + 1] ?? ''])
  }
  return headers
}

/** Reads the whole body into `seen`; false when the connection ended or the body is too long. */
const readBody = async (request: IncomingMessage, seen: SeenRequest): Promise<boolean> => {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const part of request) {
      const bytes = part as Buffer
      length += bytes.length
      if (length > bodyBytesMax) return false
      chunks.push(bytes)
    }
    return request.complete
  } catch {
    return false
  } finally {
    // What arrived is kept also when the rest never came: tests ask how much left the client.
    seen.body = Buffer.concat(chunks)
    seen.complete = request.complete
    seen.bodyBytes = seen.body.length
    seen.bodySha256 = createHash('sha256').update(seen.body).digest('hex')
  }
}

const rawBody = (raw: RawReply): Buffer =>
  Buffer.concat([...(raw.chunks ?? []), ...(raw.body === undefined ? [] : [raw.body])].map(bytesOf))

const silentModes: readonly string[] = [
  'hang_before_headers',
  'close_before_headers',
  'reset_before_headers',
]

/** The status that reaches the client, or null where none does. */
const sentStatus = ({ status, wire }: Draft): number | null => {
  if (wire.raw !== null) return wire.raw.status ?? 200
  return silentModes.includes(wire.mode) ? null : status
}

const unknownRoute = (module: ServiceModule, seen: SeenRequest): Draft => {
  seen.violations.push('no such method and path')
  const error = { message: 'There is nothing here.', code: 404 }
  return module.noSuchRoute?.() ?? jsonDraft(404, { error })
}

/** One service with what it shares; `origin` is known once it listens. */
interface Service {
  readonly module: ServiceModule
  readonly shared: Shared
  origin: string
}

const reply = async (
  { module, shared, origin }: Service,
  seen: SeenRequest,
  response: ServerResponse,
  via: ConnectionInfo,
): Promise<void> => {
  const { clock, faults, hooks, signal } = shared
  await hooks.onRequest?.(module.name, seen)
  const due = faults.due(seen)
  const draft = seen.route === 'unknown' ? unknownRoute(module, seen)
    : due.some((one) => one.spec.prevents) ? jsonDraft(503, {}) : await module.answer(seen)
  const body = faults.strike(seen, draft, origin, due)
  const { raw } = draft.wire
  if (seen.route !== 'unknown') module.delivered?.(seen, raw === null ? body : rawBody(raw))
  seen.repliedStatus = sentStatus(draft)
  const { socket } = response.req
  await deliver(draft, body, { response, socket, clock, signal, reset: via.reset })
}

const record = (
  { module, shared }: Service,
  request: IncomingMessage,
  via: ConnectionInfo,
): SeenRequest => {
  const { url: path = '', method = '' } = request
  return shared.log.begin({
    service: module.name,
    connection: via.number,
    route: module.routeOf(method, path),
    method,
    path,
    httpVersion: request.httpVersion,
    headers: headersOf(request.rawHeaders),
    rawHeaders: request.rawHeaders,
    receivedAtMs: shared.clock.monotonicMs(),
    body: Buffer.alloc(0),
    bodyBytes: 0,
    bodySha256: '',
    complete: false,
    aborted: false,
    faults: [],
    violations: [],
    attempt: 1,
    repliedStatus: null,
  })
}

const serve = async (
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  via: ConnectionInfo,
): Promise<void> => {
  const seen = record(service, request, via)
  let delivered = false
  const ended = new Promise<void>((resolve) => {
    const onClose = (): void => {
      seen.aborted = !delivered
      resolve()
    }
    request.socket.once('close', onClose)
    response.once('finish', () => {
      // A kept-alive connection serves many requests: none may leave a listener behind.
      request.socket.removeListener('close', onClose)
      resolve()
    })
  })
  try {
    if (await readBody(request, seen)) {
      await reply(service, seen, response, via)
      delivered = true
    } else request.socket.destroy()
  } catch {
    // The sandbox stops, or a hook threw: the client sees its connection end.
    request.socket.destroy()
  }
  await ended
  const { module: { keepsLargeBodies = true }, shared } = service
  const large = !keepsLargeBodies && seen.body.length > largeBodyBytes
  if (large && !shared.keepBodies) seen.body = Buffer.alloc(0)
  service.shared.log.end(seen)
  await service.shared.hooks.onDone?.(service.module.name, seen)
}

/** Starts one service on its own port; `port` 0 takes any free one. */
export const startService = async (
  module: ServiceModule,
  port: number,
  shared: Shared,
): Promise<TlsServer> => {
  const { hooks, log } = shared
  const service: Service = { module, shared, origin: '' }
  const server = await startTlsServer(
    shared.tls,
    port,
    {
      onConnect: () => {
        void hooks.onConnect?.(module.name)
        return log.connected(module.name)
      },
      onSecure: () => {
        log.secured(module.name)
        void hooks.onSecure?.(module.name)
      },
    },
    (request, response, via) => void serve(service, request, response, via),
  )
  service.origin = `https://127.0.0.1:${server.port}`
  return server
}
