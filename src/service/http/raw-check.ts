/**
 * What a request must be before anything looks at its path: judged on the raw line and the raw
 * headers, because a framework may already have put them right.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Newcomers } from './newcomers.js'
import { refusal } from './refusal.js'

/** Headers that decide something: a second one would be read differently by two readers. */
const singular = new Set([
  'host', 'authorization', 'origin', 'content-length', 'content-type', 'transfer-encoding',
  'expect', 'prefer', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest',
  'sallyport-edge-upload', 'content-encoding',
])
const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override']
/** What proxies say of whom they ask for. */
const forwarded = new Set([
  'forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-remote-ip',
  'true-client-ip', 'cf-connecting-ip',
])
const forwardedStart = /^x-(?:original-)?forwarded-|^x-envoy-/

const targetForm = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*(?:\?[\x21-\x7e]*)?$/
/** Dot segments, slashes and backslashes, however they are spelled. */
const tricks = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%2f|%5c|\\|\/\/|%00/i

const requireTarget = (target: string): void => {
  const [path = ''] = target.split('?', 1)
  if (!targetForm.test(target) || tricks.test(path)) throw refusal.target()
}

const requireSingular = (raw: readonly string[]): void => {
  const seen = new Set<string>()
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    if (!singular.has(name)) continue
    if (seen.has(name)) throw refusal.repeated()
    seen.add(name)
  }
}

/** Names under which a listener on this port is asked for. */
export const ownHosts = (port: number): readonly string[] =>
  [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`]

/** What the request came to. */
export interface Listener {
  /** `Host` values that are its own. */
  readonly hosts: readonly string[]
  readonly scheme: 'https' | 'http'
  /**
   * Of the listener of the page: the one target to which a person's browser may come from anywhere
   * else, from the private file that opens it too. It shows nothing of the state.
   */
  readonly landing?: string
  /**
   * Of the listener that connections of other machines are forwarded to: what devices ask is all
   * that is there. Told by the listener and by no header: whoever connects writes those.
   */
  readonly elsewhere?: Newcomers
}

/** A person's browser goes there as a whole: no frame, no script that reads the answer. */
const isArrival = ({ method, url, headers }: IncomingMessage, { landing }: Listener): boolean =>
  method === 'GET' && url === landing && headers['sec-fetch-mode'] === 'navigate'
  && headers['sec-fetch-dest'] === 'document'

const requireOwnName = (request: IncomingMessage, listener: Listener): void => {
  const { headers } = request
  const { hosts, scheme } = listener
  const host = headers.host?.toLowerCase() ?? ''
  if (!hosts.includes(host)) throw refusal.host()
  const { origin } = headers
  if (origin !== undefined && !hosts.some((one) => origin === `${scheme}://${one}`)) {
    throw refusal.origin()
  }
  const site = headers['sec-fetch-site']
  if (isArrival(request, listener)) return
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refusal.origin()
}

/** Throws `HttpRefusal` for a request that no route may see. */
export const checkRaw = (request: IncomingMessage, listener: Listener): void => {
  requireTarget(request.url ?? '')
  requireSingular(request.rawHeaders)
  requireOwnName(request, listener)
  if (overrides.some((name) => request.headers[name] !== undefined)) throw refusal.override()
  const { expect, 'transfer-encoding': coding } = request.headers
  // Another coding beneath would be taken for the body itself.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw refusal.malformed()
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') throw refusal.expectation()
}

const isLoopback = (address: string): boolean => {
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === '::1' || /^::ffff:127\./.test(address)
}

/** Throws `HttpRefusal` unless the request comes from this very machine and was not forwarded. */
export const requireLocal = ({ socket, headers }: IncomingMessage): void => {
  if (!isLoopback(socket.remoteAddress ?? '')) throw refusal.peer()
  const names = Object.keys(headers)
  if (names.some((name) => forwarded.has(name) || forwardedStart.test(name))) throw refusal.peer()
}

/** Bearer token of a request; null where there is none of that form. */
export const bearerOf = ({ headers }: IncomingMessage): string | null =>
  /^Bearer ([A-Za-z0-9._~+/-]{1,512}=*)$/i.exec(headers.authorization ?? '')?.[1] ?? null

const waitForm = /(?:^|[,;\s])wait=(0|[1-9][0-9]{0,2})(?=$|[,;\s])/
const waitSecondsMax = 120

/** What `Prefer: wait=N` asks for, ms; 0 where it asks for nothing. */
export const waitOf = ({ headers }: IncomingMessage): number => {
  const { prefer } = headers
  const seconds = Number(waitForm.exec(typeof prefer === 'string' ? prefer : '')?.[1] ?? 0)
  return Math.min(seconds, waitSecondsMax) * 1_000
}
