import { validateHeaderName, validateHeaderValue } from 'node:http'
import { ContactError, type ContactCode } from './contact-error.js'
import type { HttpsRequest } from './types.js'

/** Where a request goes. */
export interface Target {
  readonly url: URL
  /** Host without brackets: a name or an address literal. */
  readonly host: string
  readonly port: number
}

/** A request whose form was checked; nothing of it was sent. */
export interface CheckedRequest {
  readonly target: Target
  readonly headers: Readonly<Record<string, string>>
}

/** Headers that belong to the transport; a caller that sets them could undo one of its rules. */
const ownHeaders = new Set([
  'accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive',
  'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
])

const refuse = (code: ContactCode, message: string, details = {}): ContactError =>
  new ContactError(code, 'none', message, details)

const checkedTarget = (text: string): Target => {
  const url = /[\s\\#]/.test(text) || !URL.canParse(text) ? null : new URL(text)
  if (url === null || url.protocol !== 'https:') {
    throw refuse('url_refused', 'Only an absolute https: URL without a fragment is contacted.')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('url_refused', 'A URL with user information is not contacted.')
  }
  return {
    url,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 443 : Number(url.port),
  }
}

const checkedHeaders = (given: Readonly<Record<string, string>>): Record<string, string> => {
  const headers: Record<string, string> = { 'user-agent': 'sallyport' }
  const seen = new Set<string>()
  for (const [given_name, value] of Object.entries(given)) {
    const name = given_name.toLowerCase()
    const identity = name === 'accept-encoding' && value === 'identity'
    if ((ownHeaders.has(name) && !identity) || seen.has(name)) {
      throw refuse('header_refused', `The header ${name} is set by the client or set twice.`)
    }
    seen.add(name)
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      throw refuse('header_refused', 'A header holds characters that a header cannot hold.')
    }
    headers[name] = value
  }
  return { ...headers, 'accept-encoding': 'identity' }
}

/**
 * Checks the form of a request before authority is asked. Throws `url_refused`, `method_refused`,
 * `header_refused` or `request_too_large`, all with contact `none`.
 */
export const checkRequest = (request: HttpsRequest): CheckedRequest => {
  const target = checkedTarget(request.url)
  if (request.method !== 'GET' && request.method !== 'POST') {
    throw refuse('method_refused', 'Only GET and POST are sent.')
  }
  if (request.method === 'GET' && request.body !== undefined) {
    throw refuse('method_refused', 'A GET carries no body.')
  }
  const bytes = request.body?.byteLength ?? 0
  if (!(bytes <= request.requestBytesMax)) {
    throw refuse(
      'request_too_large',
      `The request body is larger than the limit of ${request.requestBytesMax} bytes.`,
      { limit_bytes: request.requestBytesMax, bytes },
    )
  }
  return { target, headers: checkedHeaders(request.headers) }
}
