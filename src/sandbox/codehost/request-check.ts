/** What a request to the code host may not do. */
import type { JsonObject, SeenRequest } from '../types.js'
import { bearerOf, hostsOf, unwanted } from '../headers-check.js'
import { requestObject } from '../json.js'

/** Bytes of the largest body: a tree of files, or one file in base64. */
const bodyBytesMax = 4 * 1024 * 1024

/** Notes what headers and size do that Sallyport's promises do not allow. */
export const checkHostRequest = (request: SeenRequest, port: number): void => {
  const bad = (text: string): void => void request.violations.push(text)
  const one = (name: string): string | undefined => {
    const values = request.headers.get(name) ?? []
    if (values.length > 1) bad(`header ${name} is repeated`)
    return values[0]
  }
  if (bearerOf(request) === null) bad('no single bearer token')
  if ((one('user-agent') ?? '') === '') bad('no user-agent')
  if (one('accept') !== 'application/vnd.github+json') bad('accept is not the host’s own type')
  if (!/^\d{4}-\d\d-\d\d$/.test(one('x-github-api-version') ?? '')) bad('no version is pinned')
  if ((one('accept-encoding') ?? 'identity') !== 'identity') bad('an encoding is asked for')
  if (!hostsOf(port).includes(one('host') ?? '')) bad('host is not this service')
  for (const name of [...unwanted, 'if-none-match', 'if-modified-since', 'range']) {
    if (request.headers.has(name)) bad(`header ${name} is sent`)
  }
  if (request.method === 'GET') {
    if (request.body.length > 0) bad('a read has a body')
    return
  }
  if (request.method !== 'POST') bad('neither a read nor a creation')
  if (!(one('content-type') ?? '').startsWith('application/json')) {
    bad('content-type is not application/json')
  }
  if (one('content-length') !== String(request.body.length)) bad('content-length is not exact')
  if (request.body.length > bodyBytesMax) bad('the body is over its limit')
}

/** The body of a creation, or null where it is no object; a read has an empty one. */
export const bodyObject = (request: SeenRequest): JsonObject | null =>
  request.method === 'GET' ? {} : requestObject(request)
