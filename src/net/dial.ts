import { isIP, type TcpSocketConnectOpts } from 'node:net'
import {
  checkServerIdentity, connect, createSecureContext, type SecureContext, type TLSSocket,
  type DetailedPeerCertificate,
} from 'node:tls'
import { tlsFloor, rsaBitsMin } from '../base/tls-floor.js'
import type { DialAddress } from './addresses.js'
import type { Attempt } from './attempt.js'
import type { Target } from './checked-request.js'
import { ContactError } from './contact-error.js'
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

/** Whether a certificate of the chain has a small RSA key; a root names itself as its issuer. */
const hasSmallKey = (one: DetailedPeerCertificate): boolean => {
  const { modulus, bits, issuerCertificate: issuer } = one as Partial<DetailedPeerCertificate>
  if (modulus !== undefined && (bits ?? 0) < rsaBitsMin) return true
  return issuer !== undefined && issuer !== one && hasSmallKey(issuer)
}

/** Trusts certificates under these roots (PEM) that are valid now and carry the host's name. */
export const trustRoots = (ca: readonly string[]): Trust => ({
  secureContext: secureContextFor(ca), byChain: true,
  vouches: (socket) => socket.authorized && !hasSmallKey(socket.getPeerCertificate(true)),
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

/** What is trusted and how connections are protected, both written out. */
const secureContextFor = (ca: readonly string[]): SecureContext =>
  createSecureContext({ ca: [...ca], ...tlsFloor })

/** How long an address is tried before the next one, milliseconds. */
const connectMsMax = 5_000

/** Dials one address and finishes TLS. `next`: another one follows where it is not reached. */
const dialOne = (
  attempt: Attempt,
  { host, port }: Target,
  { address, family }: DialAddress,
  { secureContext, byChain, vouches }: Trust,
  next: boolean,
): Promise<TLSSocket> => {
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
    const waiting = new AbortController()
    let reached = false
    const failed = (error?: unknown): void => {
      waiting.abort()
      const details = { system_error: errorName(error) }
      reject(
        reached
          ? attempt.failure('tls_failed', `No trusted connection to ${host} came about.`, details)
          : attempt.failure('connect_failed', `The host ${host} is not reachable.`, details),
      )
    }
    // TLS begins with this event: before it no byte at all has been said.
    socket.once('connect', () => {
      reached = true
      waiting.abort()
    })
    if (next) attempt.after(connectMsMax, waiting.signal, () => socket.destroy())
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

/**
 * Dials the addresses of a host, one after the other, and finishes TLS with the first one that a
 * TCP connection came about with. No request byte is sent, and behind a TCP connection no other
 * address is dialled, whatever becomes of it. Under trust by chain the name in the URL is what the
 * certificate must carry, though the connection goes to an address.
 *
 * Throws `connect_failed` or `tls_failed`, or the end of the attempt, with contact `none`.
 */
export const dial = async (
  attempt: Attempt, target: Target, addresses: readonly DialAddress[], trust: Trust,
): Promise<{ readonly socket: TLSSocket; readonly address: DialAddress }> => {
  const [address, ...others] = addresses
  if (address === undefined) throw new TypeError('there is an address to dial')
  try {
    return { socket: await dialOne(attempt, target, address, trust, others.length > 0), address }
  } catch (error) {
    const isUnreached = error instanceof ContactError && error.code === 'connect_failed'
    if (!isUnreached || others.length === 0) throw error
    return dial(attempt, target, others, trust)
  }
}
