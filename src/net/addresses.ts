import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ContactError } from './contact-error.js'

/** An address to dial. */
export interface DialAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** The whole global unicast space of IPv6; anything else has a special meaning or none yet. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Which addresses a client may dial; `near`: any of one machine, of a local network too. */
export type Reach = 'public' | 'loopback' | 'near'

const localRanges = new Set(['private', 'carrierGradeNat', 'uniqueLocal'])

const kindOf = (address: string): 'public' | 'loopback' | 'local' | 'special' => {
  // Node's own check first: ipaddr.js also reads octal and shortened forms of IPv4.
  if (isIP(address) === 0) return 'special'
  const parsed = ipaddr.parse(address)
  const range: string = parsed.range()
  if (range === 'loopback') return 'loopback'
  if (localRanges.has(range)) return 'local'
  if (parsed instanceof ipaddr.IPv6) {
    // NAT64: the network reaches the IPv4 address in the last four bytes, never this machine.
    const inner = range === 'rfc6052' ? parsed.toByteArray().slice(12).join('.') : null
    if (inner !== null) return kindOf(inner) === 'public' ? 'public' : 'special'
    return range === 'unicast' && parsed.match(globalUnicast) ? 'public' : 'special'
  }
  return range === 'unicast' ? 'public' : 'special'
}

/**
 * Whether an address may be dialled: a public unicast address, or a loopback one and nothing else.
 * `near` takes both, and private and shared (CGNAT) ones. Link-local, documentation, multicast,
 * unspecified, tunnelled and IPv4-mapped addresses never pass.
 */
export const mayDial = (address: string, reach: Reach): boolean => {
  const kind = kindOf(address)
  return reach === 'near' ? kind !== 'special' : kind === reach
}

const allowed = {
  public: 'a public address', loopback: 'a loopback address', near: 'an address of one machine',
} as const

/** Addresses of one host that are dialled at most, one after the other. */
const addressesMax = 4

/**
 * The addresses to dial, in the order of the answer: the next one is for where no connection came
 * about. Every address of the answer must pass, because an answer that mixes public and private
 * ones is how a name is turned against its owner.
 *
 * Throws `dns_failed` for an empty answer and `address_refused`.
 */
export const dialableAddresses = (
  host: string,
  answer: readonly DialAddress[],
  reach: Reach,
): readonly DialAddress[] => {
  if (answer.length === 0) {
    throw new ContactError('dns_failed', 'none', `The name ${host} has no address.`, { host })
  }
  if (!answer.every(({ address }) => mayDial(address, reach))) {
    throw new ContactError(
      'address_refused',
      'none',
      `The host ${host} does not stand for ${allowed[reach]}, so it is not dialled.`,
      { host },
    )
  }
  return answer.slice(0, addressesMax)
    .map(({ address }) => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
}

/** The address that a URL host spells out, or null for a name. Brackets of IPv6 are dropped. */
export const literalAddress = (host: string): DialAddress | null => {
  const bare = host.replace(/^\[|\]$/g, '')
  const family = isIP(bare)
  return family === 0 ? null : { address: bare, family: family === 6 ? 6 : 4 }
}
