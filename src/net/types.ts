/** What the one HTTPS client takes and gives. */
import type { Clock } from '../base/clock.js'

/** When authority is asked: before resolving, before dialling, before the first request byte. */
export type AuthorityPoint = 'before_resolve' | 'before_dial' | 'before_first_byte'

/**
 * What holds others off while a piece of a request leaves, and says whether it still may. It is
 * taken for each piece, from before the last look until the kernel took the piece.
 */
export interface WireFence {
  /** Waits for the piece's turn; `first` for the first one of the request. Throws, not taken. */
  take(first: boolean, signal: AbortSignal): Promise<void>
  /**
   * Throws once something ends the request: asked with every piece, and every 50 ms while one
   * waits for the kernel. The connection is destroyed then.
   */
  look(): Promise<void>
  /** Notes what has left: `begun` before the first byte, `whole` after the last. */
  note(sent: 'begun' | 'whole'): void
  give(): void
}

/** One outbound request. */
export interface HttpsRequest {
  readonly method: 'GET' | 'POST'
  /** Absolute `https:` URL; any other scheme, user info or fragment is refused. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Most bytes of the request body (checked before anything else). */
  readonly requestBytesMax: number
  /** Most raw bytes of the reply body, counted on the stream. */
  readonly replyBytesMax: number
  /** Told of the bytes of the reply's body as they come; false ends the reply as too large. */
  readonly onReplyBytes?: (bytes: number) => boolean
  /** Milliseconds from now until the request is given up, reply included. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Taken for each piece on its way out; left out where nothing may end it (a charge is owed). */
  readonly fence?: WireFence
  /**
   * Re-reads authority; throws to refuse. Called three times per request, the third time under the
   * fence.
   */
  authority(point: AuthorityPoint): void | Promise<void>
  /**
   * Makes the contacted mark durable, once `before_dial` has passed and before anybody is dialled.
   * A throw sends nothing.
   */
  markContact(): void | Promise<void>
}

/** A reply, body undecoded. Header names are lowercase; a repeated header keeps every value. */
export interface HttpsReply {
  readonly status: number
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: Buffer
}

/**
 * Whether a failed request may have reached the other side: `none` only when it is proved that no
 * request byte left this process (refused, not resolved, not dialled, TLS not finished).
 */
export type ContactProof = 'none' | 'possible'

/** What every client needs from outside; tests pass their own resolver. */
export interface ReachDeps {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv: readonly string[]
  /** Resolves a host name to addresses (one look-up per contact). */
  resolve(host: string): Promise<readonly { address: string; family: 4 | 6 }[]>
  /** True only for a profile whose every host is loopback. */
  readonly loopbackOnly: boolean
}

/** Everything the client needs from outside. */
export interface HttpsClientDeps extends ReachDeps {
  /** PEM roots: Node's bundled ones, or the profile's sealed loopback CA. */
  readonly ca: readonly string[]
}

/** What the client of one pinned origin needs. */
export interface PinnedClientDeps extends Omit<ReachDeps, 'loopbackOnly'> {
  /** `https://` with a loopback address or `localhost`, and a port; no path. */
  readonly origin: string
  /** Its public key: `sha256/` and the base64url digest of the DER SubjectPublicKeyInfo. */
  readonly pin: string
}

/** The one client. Throws `ContactError` (src/net/contact-error.ts) with its `contact` proof. */
export interface HttpsClient { request(request: HttpsRequest): Promise<HttpsReply> }
