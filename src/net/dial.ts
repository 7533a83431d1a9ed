import { constants } from 'node:crypto'
import { isIP } from 'node:net'
import type { TcpSocketConnectOpts } from 'node:net'
import { checkServerIdentity, connect, createSecureContext } from 'node:tls'
import type { SecureContext, TLSSocket } from 'node:tls'
import type { DialAddress } from './addresses.js'
import type { Attempt } from './attempt.js'
import type { Target } from './checked-request.js'
import { peerPin } from './pin.js'

/** System error names such as ECONNREFUSED: letters, digits and underscores, no content. */
export const errorName = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown'
}

/** Whom a client takes for the host that it means to reach. */
export interface Trust {
  readonly secureContext: SecureContext
  /** Whether Node refuses a chain, time or name that does not fit, before `vouches` is asked. */
  readonly byChain: boolean
  /** Asked once TLS is up and before any request byte; false ends the connection. */
  vouches(socket: TLSSocket): boolean
}

/** Trusts certificates under these roots (PEM) that are valid now and carry the host's name. */
export const trustRoots = (ca: readonly string[]): Trust => ({
  secureContext: secureContextFor(ca), byChain: true, vouches: (socket) => socket.authorized,
})

/**
 * Trusts whoever proves to hold the private key behind `pin` (see `pin.ts`), and nobody else: no
 * root, no name and no time of its certificate counts.
 */
export const trustKey = (pin: string): Trust => ({
  secureContext: secureContextFor([]),
  byChain: false,
  vouches: (socket) => peerPin(socket) === pin,
})

/**
 * What is trusted and how connections are protected. Everything is spelled out, since flags and
 * variables of Node change each of these defaults: roots, least version, ciphers.
 */
const secureContextFor = (ca: readonly string[]): SecureContext =>
  createSecureContext({
    ca: [...ca],
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: constants.defaultCoreCipherList,
  })

/**
 * Dials one address and finishes TLS. No request byte is sent. Under trust by chain the name in the
 * URL is what the certificate must carry, though the connection goes to `address`.
 *
 * Throws `connect_failed` or `tls_failed`, or the end of the attempt, with contact `none`.
 */
export const dial = (
  attempt: Attempt,
  target: Target,
  { address, family }: DialAddress,
  { secureContext, byChain, vouches }: Trust,
): Promise<TLSSocket> => {
  const { host, port } = target
  attempt.check()
  const tcp: TcpSocketConnectOpts = { host: address, port, family, autoSelectFamily: false }
  const socket = connect({
    ...tcp,
    secureContext,
    rejectUnauthorized: byChain,
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_dialled, certificate) =>
      byChain ? checkServerIdentity(host, certificate) : undefined,
    ALPNProtocols: ['http/1.1'],
  })
  const connected = new Promise<TLSSocket>((resolve, reject) => {
    let reached = false
    const failed = (error?: unknown): void => {
      const details = { system_error: errorName(error) }
      reject(
        reached
          ? attempt.failure('tls_failed', `No trusted connection to ${host} came about.`, details)
          : attempt.failure('connect_failed', `The host ${host} is not reachable.`, details),
      )
    }
    socket.once('connect', () => (reached = true))
    // Stays for the life of the socket: without a listener a late reset would end the process.
    socket.on('error', failed)
    socket.once('close', () => failed())
    socket.once('secureConnect', () => (vouches(socket) ? resolve(socket) : failed()))
  })
  return attempt.during(connected).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
}
