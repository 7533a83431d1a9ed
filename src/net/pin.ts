/**
 * Pins of public keys: how the service of this machine is known to a paired device. A pin says
 * nothing of names or times, so that a certificate may be renewed under the same key; whoever lacks
 * the private key cannot finish the handshake under it.
 */
import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { rsaBitsMin } from '../base/tls-floor.js'
import { literalAddress, mayDial, type Reach } from './addresses.js'
import { ContactError } from './contact-error.js'
import { isHostName } from './public-place.js'

const pinForm = /^sha256\/[A-Za-z0-9_-]{43}$/

/** The pin of a public key: `sha256/` and the base64url digest of its DER SubjectPublicKeyInfo. */
export const pinOf = (spki: Uint8Array): string =>
  `sha256/${createHash('sha256').update(spki).digest('base64url')}`

/**
 * The pin of whoever is at the other end of a finished handshake; null where nothing proves it, as
 * a key that is small enough to be found.
 */
export const peerPin = (socket: TLSSocket): string | null => {
  try {
    const key = socket.getPeerX509Certificate()?.publicKey
    // Without a chain to verify OpenSSL tells of a small key, and goes on.
    if ((key?.asymmetricKeyDetails?.modulusLength ?? rsaBitsMin) < rsaBitsMin) return null
    return key === undefined ? null : pinOf(key.export({ type: 'spki', format: 'der' }))
  } catch {
    // A key of a kind that cannot be written out is not the one that was pinned.
    return null
  }
}

/** An origin that is known by a pin, and which addresses it may stand for. */
interface Pinnable {
  readonly origin: string
  readonly reach: Reach
}

/**
 * The canonical origin that may be known by a pin alone: `https:` to an address or a name, and
 * nothing behind it. Throws `url_refused` or `pin_refused`.
 */
export const requirePinnable = (origin: string, pin: string): Pinnable => {
  if (!pinForm.test(pin)) {
    throw new ContactError('pin_refused', 'none', 'A pin is sha256/ and 43 base64url characters.')
  }
  const url = URL.canParse(origin) ? new URL(origin) : null
  const reach = url?.protocol === 'https:' && url.origin === origin ? reachOf(url.hostname) : null
  if (reach !== null) return { origin, reach }
  throw new ContactError(
    'url_refused', 'none',
    'A pinned origin is https:// with an address of one machine or a name, a port and no path.',
  )
}

/** The name of this machine stays there, whatever a resolver says. */
const reachOf = (host: string): Reach | null => {
  const literal = literalAddress(host)
  if (literal !== null) return mayDial(literal.address, 'near') ? 'near' : null
  if (host === 'localhost') return 'loopback'
  return isHostName(host) ? 'near' : null
}
