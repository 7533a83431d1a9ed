/**
 * What a server or the way to it said, in words of the program. Texts of the server are never
 * quoted: they repeat values and parts of statements.
 */
import { errnoOf } from '../../../base/errno.js'
import { fail, type SallyportError } from '../../../base/errors.js'
import { serverChanged } from '../errors.js'

/** Why a place cannot be reached; `reason` of `place_unreachable`. */
type Unreached =
  | 'no_answer' | 'refused' | 'name' | 'tls' | 'login' | 'database' | 'read_only' | 'busy'
  | 'server'

const hints: Readonly<Record<Unreached, string>> = {
  no_answer: 'Look whether the server and the network are up, and try again.',
  refused: 'Nothing listens there: start the server, and try again.',
  name: 'The name of the server cannot be looked up: see to the network.',
  tls: 'The server did not prove itself by the certificates that this machine has for it.',
  login: 'The server takes neither this role nor its password: see its own log.',
  database: 'The server has no such database, or this role may not use it.',
  read_only: 'That server only reads, as a standby does: name the one that writes.',
  busy: 'The server takes no connection now: it starts, ends, or has too many.',
  server: 'The server refused the statement: its own log says why.',
}

/** SQLSTATE of an answer of the server; undefined where the connection itself failed. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}

/** Whether what was asked may or may not have come to be: nobody says. */
export const isLost = (error: unknown): boolean => /^(?:08|57P)/.test(sqlStateOf(error) ?? '08')

/** Whether the server gave up for the sake of another statement: asking again is right. */
export const isAgain = (error: unknown): boolean =>
  ['40001', '40P01'].includes(sqlStateOf(error) ?? '')

/** Whether the server only reads: a standby, or one that was set so. */
export const isReading = (error: unknown): boolean =>
  ['25006', '55000'].includes(sqlStateOf(error) ?? '')

const byState: readonly (readonly [RegExp, Unreached])[] = [
  [/^28/, 'login'],
  [/^(?:3D000|42501)$/, 'database'],
  [/^(?:25006|55000)$/, 'read_only'],
  [/^(?:53300|57P03|55P03)$/, 'busy'],
  [/^(?:08|57)/, 'no_answer'],
]

/** Errors by which TLS ends before anything was said. */
const tlsForm = /^(?:ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|EPROTO|HOSTNAME_)/

const reasonOf = (error: unknown): Unreached => {
  const state = sqlStateOf(error)
  if (state !== undefined) return byState.find(([form]) => form.test(state))?.[1] ?? 'server'
  const errno = errnoOf(error)
  if (tlsForm.test(errno)) return 'tls'
  if (errno === 'ECONNREFUSED') return 'refused'
  if (errno === 'ENOTFOUND' || errno === 'EAI_AGAIN') return 'name'
  const { message } = error as Error
  if (/SSL/.test(message)) return 'tls'
  return /password|SASL/.test(message) ? 'login' : 'no_answer'
}

/**
 * `locked` `place_unreachable` with a reason; `failed` `disk_full`; `conflict` `server_changed`
 * where there are no tables. `error`: what the driver threw.
 */
export const placeFailure = (error: unknown, place: string): SallyportError => {
  const state = sqlStateOf(error)
  if (state === '42P01' || state === '3F000') return serverChanged('store_missing')
  if (state === '53100') {
    return fail.failed('disk_full', 'The disk of the server is full.', {
      next: 'Free some space there and run the command again.',
    })
  }
  const reason = reasonOf(error)
  return fail.locked('place_unreachable', `The server of this state cannot be reached: ${place}.`, {
    reason, next: hints[reason],
    details: state === undefined ? { place } : { place, sqlstate: state },
  })
}
