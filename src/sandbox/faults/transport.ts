import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { bodyOf } from '../deliver.js'
import type { Draft, WirePlan } from '../types.js'
import type { FaultCall, FaultSpec, FaultStage } from './spec.js'

/**
 * Faults that do not care what a reply says. Each exists twice: for a completion of the provider
 * or the gateway under its own name, for the provider's billing with `billing_` before it, and for
 * reads and creations of the code host with `read_` and `write_` before it.
 */
interface PlainFault {
  readonly name: string
  readonly summary: string
  readonly stage: FaultStage
  readonly value?: NonNullable<FaultSpec['value']>
  /** The value's default on the billing route, where limits are smaller. */
  readonly billingFallback?: number
  apply(call: FaultCall): void
}

const header = (draft: Draft, name: string, value: string): void => {
  draft.headers.push([name, value])
}

const mode = (name: WirePlan['mode'], summary: string): PlainFault => ({
  name, summary, stage: 'wire',
  apply: ({ draft }) => {
    draft.wire.mode = name
  },
})

const bodyBytes = (draft: Draft): Buffer => draft.bytes ?? Buffer.alloc(0)

const encoding = (name: string, token: string, encode: (bytes: Buffer) => Buffer): PlainFault => ({
  name,
  summary: `the body encoded with ${name}, and named so`,
  stage: 'bytes',
  apply: ({ draft }) => {
    draft.bytes = encode(bodyBytes(draft))
    header(draft, 'Content-Encoding', token)
  },
})

const status = (code: number): PlainFault => ({
  name: `status_${code}`,
  summary: `status ${code} with Retry-After and an error body`,
  stage: 'bytes',
  value: { meaning: 'seconds in Retry-After', fallback: 1 },
  apply: ({ draft, value }) => {
    draft.status = code
    draft.bytes = Buffer.from(JSON.stringify({ error: { message: 'sandbox fault', code } }))
    header(draft, 'Retry-After', String(value))
  },
})

const redirect = (code: number): PlainFault => ({
  name: `redirect_${code}`,
  summary: `status ${code} with a Location on the same service; following it is a violation`,
  stage: 'bytes',
  apply: ({ draft, origin }) => {
    draft.status = code
    draft.bytes = Buffer.from('{}')
    header(draft, 'Location', `${origin}/v1/redirected`)
  },
})

const padded = (draft: Draft, bytes: number): Buffer => {
  const body = bodyBytes(draft)
  return Buffer.concat([body, Buffer.alloc(Math.max(0, bytes - body.length), 0x20)])
}

const oversize = (framing: 'length' | 'chunked'): PlainFault => ({
  name: framing === 'length' ? 'oversize' : 'oversize_chunked',
  summary: `a valid body padded past the limit, ${
    framing === 'length' ? 'its length announced' : 'in chunks without a length'
  }`,
  stage: 'bytes',
  value: { meaning: 'bytes of the body', fallback: 256 * 1024 + 1 },
  billingFallback: 16 * 1024 + 1,
  apply: ({ draft, value }) => {
    draft.bytes = padded(draft, value)
    draft.wire.framing = framing
  },
})

const bytes = (name: string, summary: string, to: (body: Buffer) => Buffer): PlainFault => ({
  name, summary, stage: 'bytes',
  apply: ({ draft }) => {
    draft.bytes = to(bodyBytes(draft))
  },
})

const text = (name: string, summary: string, to: (body: string) => string): PlainFault =>
  bytes(name, summary, (body) => Buffer.from(to(body.toString('utf8'))))

/** The honest reply behind another first line. */
const firstLine = (name: string, summary: string, line: string): PlainFault => ({
  name: `first_line_${name}`,
  summary: `the first line is ${summary}`,
  stage: 'wire',
  apply: ({ draft }) => {
    const { status, headers } = draft
    draft.wire.raw = { firstLine: line, status, headers, body: bodyOf(draft) }
  },
})

const plain: readonly PlainFault[] = [
  {
    name: 'delay', summary: 'the reply comes late, whole and correct', stage: 'wire',
    value: { meaning: 'milliseconds', fallback: 2000 },
    apply: ({ draft, value }) => {
      draft.wire.delayMs = value
    },
  },
  mode('hang_before_headers', 'the request is read and never answered'),
  mode('hang_mid_body', 'half of the body, then silence on an open connection'),
  {
    name: 'drip', summary: 'the body one byte at a time', stage: 'wire',
    value: { meaning: 'milliseconds between bytes', fallback: 250 },
    apply: ({ draft, value }) => {
      draft.wire.mode = 'drip'
      draft.wire.dripMs = value
    },
  },
  mode('close_before_headers', 'the connection is closed without an answer'),
  mode('reset_before_headers', 'the connection is reset without an answer'),
  mode('reset_mid_body', 'half of the body, then a reset'),
  mode('truncate', 'half of the announced body, then a clean close'),
  firstLine('http2', 'one of HTTP/2.0', 'HTTP/2.0 200 OK'),
  firstLine('foreign', 'one of another protocol', 'ICE/1.0 200 OK'),
  firstLine('nul', 'one with a NUL in its words', 'HTTP/1.1 200 O\0K'),
  {
    name: 'switching', stage: 'wire',
    summary: 'the protocol is switched, and the connection stays open',
    apply: ({ draft }) => {
      const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: other']
      draft.wire.raw = { verbatim: `${lines.join('\r\n')}\r\n\r\n`, end: 'hang' }
    },
  },
  {
    name: 'chunked', summary: 'correct, in HTTP chunks without a length', stage: 'wire',
    apply: ({ draft }) => {
      draft.wire.framing = 'chunked'
    },
  },
  ...[301, 302, 303, 307, 308].map(redirect),
  encoding('gzip', 'gzip', gzipSync),
  encoding('br', 'br', brotliCompressSync),
  encoding('deflate', 'deflate', deflateSync),
  bytes('encoding_unnamed_gzip', 'the body is gzip and no header says so', (body) =>
    gzipSync(body)),
  oversize('length'),
  oversize('chunked'),
  ...[400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504].map(status),
  text('not_json', 'the body is an HTML page', () => '<html><body>Bad gateway</body></html>'),
  text('malformed', 'JSON that breaks off before its last brace', (body) => body.slice(0, -1)),
  text('trailing', 'a second JSON document after the first', (body) => `${body} {}`),
  text('empty_body', 'a body of no bytes', () => ''),
  text('duplicate_key', 'the first member stands twice', (body) => {
    const first = /^\{("(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|[-.\w]+|\[[^\]]*\])),?/.exec(body)
    return first === null ? body : `{${first[1]},${body.slice(1)}`
  }),
  text('deep', 'a member nested 2,000 levels deep', (body) =>
    body.replace('{', `{"deep":${'['.repeat(2000)}${']'.repeat(2000)},`)),
  bytes('bom', 'a byte order mark before the body', (body) =>
    Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body])),
  bytes('bad_utf8', 'a member holding a byte that is not UTF-8', (body) =>
    Buffer.concat([Buffer.from('{"x":"'), Buffer.of(0xff), Buffer.from('",'), body.subarray(1)])),
  text('lone_surrogate', 'a member holding half of a surrogate pair', (body) =>
    body.replace('{', '{"x":"\\ud800",')),
]

const forCompletion = (fault: PlainFault): FaultSpec => ({
  ...fault, route: 'completion', services: ['provider', 'gateway'],
})

const forBilling = ({ billingFallback, ...fault }: PlainFault): FaultSpec => ({
  ...fault,
  ...(fault.value === undefined
    ? {}
    : { value: { ...fault.value, fallback: billingFallback ?? fault.value.fallback } }),
  name: `billing_${fault.name}`, summary: `billing: ${fault.summary}`,
  route: 'billing', services: ['provider'],
})

const hostFallback = 1024 * 1024 + 1

/** The effect of a creation is there all the same: only the reply is another. */
const forHost = (verb: 'read' | 'write') => (
  { billingFallback, ...fault }: PlainFault,
): FaultSpec => ({
  ...fault,
  ...(fault.value === undefined || billingFallback === undefined
    ? {} : { value: { ...fault.value, fallback: hostFallback } }),
  name: `${verb}_${fault.name}`,
  summary: `${verb === 'read' ? 'a read' : 'a creation that is done'}: ${fault.summary}`,
  route: verb === 'read' ? 'host_read' : 'host_write',
  services: ['codehost'],
})

/** Faults of the transport, for completions, for billing and for the code host. */
export const transportFaults: readonly FaultSpec[] = [
  ...plain.map(forCompletion),
  ...plain.map(forBilling),
  ...plain.map(forHost('read')),
  ...plain.map(forHost('write')),
]
