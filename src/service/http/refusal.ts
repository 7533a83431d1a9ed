/** Refusals that only HTTP has: each with its own status, and the body of every other failure. */
import { fail, type SallyportError } from '../../base/errors.js'
import { errorBody, type ErrorBody } from '../../base/outcome.js'

/** A refusal with a status that no failure of a use case has. */
export class HttpRefusal extends Error {
  readonly status: number
  readonly error: SallyportError
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, error: SallyportError, headers: Record<string, string> = {}) {
    super(error.message)
    this.status = status
    this.error = error
    this.headers = headers
  }

  /** Its body; `status` in it is the one of the reply. */
  get body(): ErrorBody {
    const { error } = errorBody(this.error)
    return { error: { ...error, status: this.status } }
  }
}

const refuse = (
  status: number, code: string, message: string, next: string, headers?: Record<string, string>,
): HttpRefusal => new HttpRefusal(status, fail.rejected(code, message, { next }), headers)

const again = 'Send it again, as HTTP/1.1 has it.'

/** The refusals, by what was wrong. */
export const refusal = {
  target: () => refuse(400, 'http_target', 'The request target is not a plain path.',
    'Ask for the path of an endpoint, without dot segments, encoded slashes or an origin.'),
  host: () => refuse(421, 'http_host', 'The Host is not a name of this service.',
    'Use 127.0.0.1, [::1] or localhost with the port of the service.'),
  repeated: () => refuse(400, 'http_header_repeated', 'A header came more than once.',
    'Send each header once.'),
  override: () => refuse(400, 'http_method_override', 'A method cannot be overridden.',
    'Send the method itself.'),
  origin: () => refuse(403, 'http_origin', 'The request comes from another origin.',
    'Ask from the service itself, or from a program that sends no Origin.'),
  peer: () => refuse(403, 'http_peer', 'This is accepted from this machine itself only.',
    'Ask from the machine that the service runs on, without a proxy.'),
  noRoute: () => new HttpRefusal(404, fail.notFound(
    'no_such_endpoint', 'There is no such endpoint.',
    { next: 'See GET /openapi.json for what there is.' })),
  method: (allow: string) => refuse(405, 'http_method', 'This endpoint has no such method.',
    'See GET /openapi.json for what there is.', { Allow: allow }),
  length: () => refuse(411, 'http_length_required', 'The length of the body must be declared.',
    'Send Content-Length.'),
  tooLarge: (bytesMax: number) => new HttpRefusal(413, fail.rejected(
    'http_body_too_large', `The body has at most ${bytesMax} bytes.`,
    { details: { bytes_max: bytesMax } })),
  mediaType: (wanted: string) => refuse(415, 'http_media_type', `The body must be ${wanted}.`,
    `Send Content-Type: ${wanted}.`),
  noBody: () => refuse(400, 'http_body_unexpected', 'This endpoint takes no body.', 'Send none.'),
  needsBody: () => refuse(400, 'http_body_missing', 'This endpoint needs a JSON body.',
    'See GET /openapi.json for its fields.'),
  cutShort: () => refuse(400, 'http_body_cut_short', 'The body ended before its length.',
    'Send it again.'),
  slow: () => refuse(408, 'http_body_slow', 'The body did not come in time.', 'Send it again.'),
  stopping: () => new HttpRefusal(503, fail.locked('service_stopping', 'The service is stopping.', {
    next: 'Try again once it has started.',
  }), { 'Retry-After': '2' }),
  query: (name: string) => new HttpRefusal(400, fail.rejected(
    'http_query', `The query field ${name} is unknown, repeated or not of its form.`,
    { details: { field: name }, next: 'See GET /openapi.json for the fields there are.' })),
  malformed: () => refuse(400, 'http_malformed', 'The request is no HTTP/1.1.', again),
  headTooLarge: (bytesMax: number) => new HttpRefusal(431, fail.rejected(
    'http_head_too_large', `The head of a request has at most ${bytesMax} bytes.`,
    { details: { bytes_max: bytesMax } })),
  headSlow: () => refuse(408, 'http_head_slow', 'The head did not come in time.', again),
  tooManyPictures: (waitMs: number) => new HttpRefusal(429, fail.locked(
    'pictures_too_many', 'Too many pictures were asked for within a minute.',
    { next: 'Wait a moment, then go on.' }),
  { 'Retry-After': String(Math.ceil(waitMs / 1_000)) }),
  picturesUnderWay: () => new HttpRefusal(429, fail.locked(
    'pictures_under_way', 'Too many pictures are on their way at one time.',
    { next: 'Wait until one of them has come.' }), { 'Retry-After': '1' }),
  expectation: () => refuse(417, 'http_expectation', 'Only 100-continue can be expected.',
    'Leave Expect out.'),
} as const

/** What to answer where the parser of HTTP gave up; a head has at most so many bytes. */
export const unreadable = (error: Error, headBytesMax: number): HttpRefusal => {
  const code = 'code' in error ? error.code : ''
  if (code === 'HPE_HEADER_OVERFLOW') return refusal.headTooLarge(headBytesMax)
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? refusal.headSlow() : refusal.malformed()
}
