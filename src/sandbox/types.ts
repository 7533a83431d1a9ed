/**
 * The words that the parts of the sandbox share: a request it saw, the reply it means to give, and
 * how that reply goes onto the wire. A service module turns the first into the second; faults
 * change the second; one deliverer does the third.
 */
import type { CodehostRoute } from './codehost/routes.js'

/** The services of the outside world that the sandbox plays; each has its own port. */
export type ServiceName = 'provider' | 'gateway' | 'codehost'

/** Every service, in the order in which they are listed. */
export const serviceNames: readonly ServiceName[] = ['provider', 'gateway', 'codehost']

/** What a request asks of its service; `unknown` is a path or method no service has. */
export type RouteName = 'completion' | 'billing' | 'key' | CodehostRoute | 'unknown'

/** What a fault can act on: one route, or all reads or all creations of the code host. */
export type FaultRoute = Exclude<RouteName, 'unknown'> | 'host_read' | 'host_write'

/**
 * One request as it was seen, kept in memory only and never printed: headers and body hold keys
 * and questions.
 */
export interface SeenRequest {
  readonly service: ServiceName
  /** Counts all requests of this sandbox from 1. */
  readonly number: number
  /** Counts the TCP connections of this service from 1. */
  readonly connection: number
  readonly route: RouteName
  readonly method: string
  /** Path with query, as received. */
  readonly path: string
  readonly httpVersion: string
  /** Lowercase names; a repeated header keeps every value. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  /** Names and values as received, alternating. */
  readonly rawHeaders: readonly string[]
  /** Milliseconds of the sandbox's monotonic clock. */
  readonly receivedAtMs: number
  /** Body bytes received so far; whole once `complete`. Large ones are let go after the reply. */
  body: Buffer
  /** Bytes of the body as received, and their SHA-256 in hex; kept when the body is not. */
  bodyBytes: number
  bodySha256: string
  /** True once the whole body has arrived. */
  complete: boolean
  /** True when the client ended the connection before the sandbox had done its part. */
  aborted: boolean
  /** Names of the faults applied to the reply. */
  faults: string[]
  /** What the request did that the protocol or Sallyport's promises do not allow. */
  violations: string[]
  /** Which request about the same billing id this is, from 1; 1 for everything else. */
  attempt: number
  /** Status of the reply, or null while (or if) none was sent. */
  repliedStatus: number | null
}

/** How the reply's bytes are put on the wire. */
export interface WirePlan {
  /** Milliseconds before the first reply byte. */
  delayMs: number
  /** What happens to the reply on its way. */
  mode:
    | 'whole'
    | 'hang_before_headers'
    | 'hang_mid_body'
    | 'drip'
    | 'close_before_headers'
    | 'reset_before_headers'
    | 'reset_mid_body'
    | 'truncate'
  /** How the client learns where the body ends. */
  framing: 'length' | 'chunked' | 'close'
  /** Milliseconds between the single bytes of a `drip`. */
  dripMs: number
  /** Replaces the whole reply when set. */
  raw: RawReply | null
}

/** A JSON object on its way to be written. */
export type JsonObject = Record<string, unknown>

/** The reply a service means to give, before and while faults change it. */
export interface Draft {
  status: number
  /** The body's members, until `bytes` replaces them; without members where the body is a list. */
  json: JsonObject
  /** The body's exact bytes; null means that `json` is written. */
  bytes: Buffer | null
  /** Names as they are sent, in order; names may repeat. */
  headers: [string, string][]
  wire: WirePlan
}

/** A reply given by a test byte for byte; what it leaves out takes the plain value. */
export interface RawReply {
  /** Default 200. */
  readonly status?: number
  /** The first line without its end, in the place of the one that `status` makes. */
  readonly firstLine?: string
  /** Pairs, because names may repeat; a record is accepted too. Default: JSON content type. */
  readonly headers?: readonly (readonly [string, string])[] | Readonly<Record<string, string>>
  /** The body in one piece. */
  readonly body?: Uint8Array | string
  /** The body in pieces, sent as separate writes (HTTP chunks unless `framing` says otherwise). */
  readonly chunks?: readonly (Uint8Array | string)[]
  /** Milliseconds before the first byte. */
  readonly delayMs?: number
  /** Milliseconds between pieces. */
  readonly chunkDelayMs?: number
  /** Default: `length` for `body`, `chunked` for `chunks`; `none` adds no header of its own. */
  readonly framing?: 'length' | 'chunked' | 'close' | 'none'
  /** What follows the last byte; default `close`. */
  readonly end?: 'close' | 'hang' | 'reset'
  /** Every byte of the reply, status line included; all other fields but the times are ignored. */
  readonly verbatim?: Uint8Array | string
}

/** Called inside the process that runs the sandbox; tests kill, revoke or change faults here. */
export interface SandboxHooks {
  /** A TCP connection was accepted; no byte has been read. */
  onConnect?(service: ServiceName): void | Promise<void>
  /** TLS is established; no request byte has been read. */
  onSecure?(service: ServiceName): void | Promise<void>
  /** The request is whole; awaited before the reply is made, so faults may still be set here. */
  onRequest?(service: ServiceName, request: SeenRequest): void | Promise<void>
  /** The reply was handed to the socket, or the connection is gone. */
  onDone?(service: ServiceName, request: SeenRequest): void | Promise<void>
}

/** One service of the outside world. */
export interface ServiceModule {
  readonly name: ServiceName
  /** Which route a method and a path without query belong to. */
  routeOf(method: string, path: string): RouteName
  /** The honest reply; adds to `request.violations` what is wrong with the request. */
  answer(request: SeenRequest): Draft | Promise<Draft>
  /** False lets bodies over 64 KiB go after the reply, unless the sandbox is to keep them. */
  readonly keepsLargeBodies?: boolean
  /** The reply to what no route fits. */
  noSuchRoute?(): Draft
  /** Told what a reply really carries after faults, so that later requests fit it. */
  delivered?(request: SeenRequest, body: Buffer): void
}

/** A plain wire plan: at once, whole, with a length. */
const plainWire = (): WirePlan => ({
  delayMs: 0,
  mode: 'whole',
  framing: 'length',
  dripMs: 0,
  raw: null,
})

export const jsonDraft = (
  status: number,
  json: JsonObject,
  headers: [string, string][] = [],
): Draft => ({
  status,
  json,
  bytes: null,
  headers: [['Content-Type', 'application/json'], ...headers],
  wire: plainWire(),
})
