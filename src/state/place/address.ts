/**
 * Where a place lies, as people write it: `postgres://user@host:port/database`, and nothing else.
 * A password would lie in the history of the shell and in the list of processes; parameters behind
 * a question mark would let a driver be told something that nobody here has read.
 */
import { fail } from '../../base/errors.js'

/** A database on a server, and as whom it is asked. */
export interface PlaceAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

const usualPort = 5432
const portMax = 65_535
/** A name, an IPv4 address, or an IPv6 address in brackets. */
const hostForm = String.raw`\[[\da-f:.]+\]|[a-z\d](?:[a-z\d.-]*[a-z\d])?`
const form = new RegExp(
  String.raw`^postgres://([^/?#]+)@(${hostForm})(?::(\d{1,5}))?/([^/?#]+)$`, 'i')
/** A role or a database: no spaces, quotes or control characters, and no longer than a name is. */
const nameForm = /^[\w.@$-]{1,63}$/
const loopbackForm = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i

const invalid = (): Error => fail.rejected('place_address_invalid',
  'The address of a server is written postgres://USER@HOST:PORT/DATABASE.', {
    next: 'Write it without parameters: the certificate of the server has a flag of its own.',
  })

const decoded = (text: string): string => {
  try {
    const name = decodeURIComponent(text)
    if (nameForm.test(name)) return name
  } catch {
    // Half an escape is no name either.
  }
  throw invalid()
}

/** Whether nobody but this machine can listen on the way to a host. */
export const isLoopback = (host: string): boolean => loopbackForm.test(host)

/** `rejected` `server_ca_needed` where a connection would show what it says to the network. */
export const requireCa = ({ host }: PlaceAddress, ca: string | null): void => {
  if (ca !== null || isLoopback(host)) return
  throw fail.rejected('server_ca_needed',
    'A server on another machine is reached over TLS alone, by a certificate that you name.', {
      next: 'Give --server-ca with the certificates that the server is verified by.',
    })
}

/**
 * Reads an address. `ca`: the certificates, PEM, that the server is verified by; null on loopback
 * without TLS. Throws `rejected` `password_on_command_line`, `place_address_invalid` or
 * `server_ca_needed`.
 */
export const parsePlaceAddress = (text: string, ca: string | null): PlaceAddress => {
  if (/^[a-z]*:\/\/[^@]*:[^@]*@/i.test(text)) {
    throw fail.rejected('password_on_command_line',
      'An address with a password in it is not taken: others see what is typed.', {
        next: 'Leave it out, change it at the server, and give --server-password-file.',
      })
  }
  const [, user, host, port, database] = form.exec(text) ?? []
  if (user === undefined || host === undefined || database === undefined) throw invalid()
  const address = {
    host: host.replace(/^\[|\]$/g, '').toLowerCase(),
    port: port === undefined ? usualPort : Number(port),
    user: decoded(user),
    database: decoded(database),
  }
  if (address.port < 1 || address.port > portMax) throw invalid()
  requireCa(address, ca)
  return address
}

/** Host and database, for people. */
export const nameOfPlace = ({ host, database }: PlaceAddress): string => `${host}/${database}`
