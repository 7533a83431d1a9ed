/** What no route may see: raw requests over real TLS, each refused before anything is looked at. */
import { IncomingMessage } from 'node:http'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import { connect as tcpConnect, Socket } from 'node:net'
import { serving, type Serving } from '../../support/service/serving.js'
import { t } from '../../support/tests-in-slices.js'
import { waitOf } from '../../../src/service/http/raw-check.js'
import { unreadable } from '../../../src/service/http/refusal.js'
import { World } from '../../world/world.js'

const world = (t: Parameters<typeof World.in>[0]) => World.in(t).state().session()

const opened = ({ started }: Serving): Promise<TLSSocket> => new Promise((resolve, reject) => {
  const { port, certificate } = started.identity
  const socket = tlsConnect({ host: '127.0.0.1', port, ca: [certificate], servername: 'localhost' },
    () => resolve(socket))
  socket.on('error', reject)
})

/** Sends bytes as they are; gives all that comes back until the other side closes, or a reply. */
const raw = async (at: Serving, text: string, { end = true } = {}): Promise<string> => {
  const socket = await opened(at)
  return new Promise((resolve) => {
    let got = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (got += chunk))
    socket.on('error', () => resolve(got))
    socket.on('close', () => resolve(got))
    socket.write(text)
    if (end) socket.on('data', () => /\r\n\r\n[\s\S]*\n/.test(got) && socket.end())
  })
}

/** The same to a listener without TLS, by a client that says no more. */
const plainRaw = (port: number, text: string): Promise<string> => new Promise((resolve) => {
  const socket = tcpConnect({ host: '127.0.0.1', port })
  let got = ''
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  socket.on('close', () => resolve(got))
  socket.on('error', () => undefined)
  socket.end(text)
})

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)

const codeOf = (text: string): string => /"code":"([a-z_]+)"/.exec(text)?.[1] ?? ''

t.test('targets, hosts, origins and repeated headers that two readers could read in two ways are refused', async (t) => {
  const at = await serving(t, await world(t))
  const { port } = at.started.identity
  const own = `Host: 127.0.0.1:${port}`
  const bearer = `Authorization: Bearer ${at.token()}`
  const get = (target: string, ...headers: string[]): string =>
    [`GET ${target} HTTP/1.1`, ...headers, '', ''].join('\r\n')
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['an absolute target', get(`https://127.0.0.1:${port}/healthz`, own), 400, 'http_target'],
    ['another origin as target', get('http://example.org/healthz', own), 400, 'http_target'],
    ['dot segments', get('/api/../healthz', own), 400, 'http_target'],
    ['encoded dot segments', get('/p/../p/%2e%2e/healthz', own), 400, 'http_target'],
    ['half encoded ones', get('/p/.%2E/healthz', own), 400, 'http_target'],
    ['an encoded slash', get('/api%2Fstatus', own, bearer), 400, 'http_target'],
    ['a backslash', get('/api%5cstatus', own, bearer), 400, 'http_target'],
    ['two slashes', get('//healthz', own), 400, 'http_target'],
    ['a zero byte', get('/healthz%00', own), 400, 'http_target'],
    ['no Host', get('/healthz'), 421, 'http_host'],
    ['a rebound Host', get('/healthz', 'Host: evil.example'), 421, 'http_host'],
    ['a Host with another port', get('/healthz', 'Host: 127.0.0.1:1'), 421, 'http_host'],
    ['a second Host', get('/healthz', own, own), 400, 'http_header_repeated'],
    ['two tokens', get('/api/status', own, bearer, bearer), 400, 'http_header_repeated'],
    ['two origins', get('/healthz', own, 'Origin: null', 'Origin: null'), 400,
      'http_header_repeated'],
    ['a foreign origin', get('/healthz', own, 'Origin: https://evil.example'), 403, 'http_origin'],
    ['the null origin', get('/healthz', own, 'Origin: null'), 403, 'http_origin'],
    ['its own name over plain HTTP', get('/healthz', own, `Origin: http://127.0.0.1:${port}`), 403,
      'http_origin'],
    ['a page of another site', get('/healthz', own, 'Sec-Fetch-Site: cross-site'), 403,
      'http_origin'],
    ...[
      'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty', 'Prefer: wait=1',
      'Content-Type: application/json', 'Content-Encoding: identity', 'Sallyport-Edge-Upload: e30',
    ].map((header) => [
      `two of ${header}`, get('/healthz', own, header, header), 400, 'http_header_repeated',
    ] as const),
    ['an overridden method', get('/healthz', own, 'X-HTTP-Method-Override: POST'), 400,
      'http_method_override'],
    ['an unknown expectation', get('/healthz', own, 'Expect: a-miracle'), 417,
      'http_expectation'],
  ]
  for (const [what, text, status, code] of cases) {
    const got = await raw(at, text)
    t.equal(statusOf(got), status, what)
    t.match(got, `"code":"${code}"`, what)
    t.match(got, /\r\nContent-Type: application\/json\r\n/i)
  }
  const fine = await raw(at, get('/healthz', `Host: [::1]:${port}`,
    `Origin: https://localhost:${port}`, 'Sec-Fetch-Site: same-origin'))
  t.equal(statusOf(fine), 200)
})

t.test('nobody is waited for longer than two minutes, whatever a caller prefers', (t) => {
  const waited = (prefer: string): number => {
    const request = new IncomingMessage(new Socket())
    request.headers = { prefer }
    return waitOf(request)
  }
  const seconds = {
    'wait=0': 0, 'wait=30': 30, 'respond-async, wait=30': 30, 'wait=120': 120, 'wait=121': 120,
    'wait=999': 120, 'wait=1000': 0, 'wait=-1': 0, 'wait=1e9': 0, 'wait=': 0, 'await=30': 0, '': 0,
  }
  for (const [prefer, wanted] of Object.entries(seconds)) {
    t.equal(waited(prefer), wanted * 1_000, prefer)
  }
  t.end()
})

/** So many short headers, each of which counts. */
const pads = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `a${(at % 36).toString(36)}:`)
const padCounts = [0, 990, 1_000, 1_010, 3_900] as const

t.test('S-178 S-188 a header behind a thousand others counts as much as the first one', async (t) => {
  const at = await serving(t, await world(t), { page: null })
  const { port } = at.started.identity
  const [own, bearer] = [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${at.token()}`]
  const clear = 'POST /api/settings/screen-analysis/clear-stale HTTP/1.1'
  const cases: readonly (readonly [string, string, string])[] = [
    ['GET /api/status HTTP/1.1', 'Origin: https://evil.example', 'http_origin'],
    ['GET /api/status HTTP/1.1', 'Sec-Fetch-Site: cross-site', 'http_origin'],
    ['GET /api/status HTTP/1.1', 'Host: evil.example', 'http_header_repeated'],
    ['GET /api/status HTTP/1.1', bearer, 'http_header_repeated'],
    ['GET /api/status HTTP/1.1', 'X-HTTP-Method: DELETE', 'http_method_override'],
    ['GET /api/status HTTP/1.1', 'Expect: a-miracle', 'http_expectation'],
    [clear, 'X-Forwarded-For: 203.0.113.9', 'http_peer'],
    [clear, 'Content-Length: 2', 'http_body_unexpected'],
    [clear, 'Transfer-Encoding: chunked', 'http_body_unexpected'],
  ]
  for (const count of padCounts) {
    for (const [line, last, code] of cases) {
      const got = await raw(at, [line, own, bearer, ...pads(count), last, '', ''].join('\r\n'))
      t.equal(codeOf(got), code, `${last} behind ${count}`)
    }
    const fine = await raw(at, ['GET /api/status HTTP/1.1', own, bearer, ...pads(count), '', '']
      .join('\r\n'))
    t.equal(statusOf(fine), 200, `${count} headers that say nothing`)
  }
  const page = new URL(at.started.page?.url ?? '')
  for (const count of padCounts) {
    for (const [last, code] of [
      ['Origin: https://evil.example', 'http_origin'],
      ['Host: evil.example', 'http_header_repeated'],
      ['Sec-Fetch-Site: cross-site', 'http_origin'], ['Via: 1.1 proxy', 'http_peer'],
    ]) {
      const got = await plainRaw(Number(page.port), [
        'GET / HTTP/1.1', `Host: ${page.host}`, ...pads(count), last, '', '',
      ].join('\r\n'))
      t.equal(codeOf(got), code, `the page: ${last} behind ${count}`)
    }
  }
})

t.test('lengths that lie, two framings at once and plain HTTP never reach a handler', async (t) => {
  const at = await serving(t, await world(t))
  const { port } = at.started.identity
  const post = (headers: readonly string[], body: string): string => [
    'POST /api/work-board/inputs HTTP/1.1', `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${at.token()}`, 'Content-Type: application/json', ...headers, '', body,
  ].join('\r\n')
  t.equal(statusOf(await raw(at, post(
    ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'))), 400, 'both framings')
  t.equal(statusOf(await raw(at, post(['Content-Length: 2', 'Content-Length: 3'], '{}'))), 400)
  const input = '{"schema":"svc.alpha.text.input.v1","question":"q","max_output_tokens":5}'
  const chunked = `${input.length.toString(16)}\r\n${input}\r\n0\r\n\r\n`
  t.equal(statusOf(await raw(at, post(['Transfer-Encoding: Chunked'], chunked))), 201)
  t.equal(statusOf(await raw(at, post(['Transfer-Encoding: gzip, chunked'], chunked))), 400,
    'another coding beneath')
  t.equal(statusOf(await raw(at, post(['Content-Length: -1'], '{}'))), 400)
  t.equal(statusOf(await raw(at, post(['Content-Length: 99999999'], '{}'))), 413,
    'refused by what it declares')
  t.equal(statusOf(await raw(at, post(['Content-Length: 0'], ''))), 400, 'a body is needed')
  t.equal(statusOf(await raw(at, post(['Transfer-Encoding: chunked', 'Trailer: X-A'],
    '2\r\n{}\r\n0\r\nX-A: b\r\n\r\n'))), 400, 'a trailer changes nothing: no input')
  const refused = await raw(at, post(['Content-Length: 99999999'], '{}'))
  t.match(refused, /\r\nConnection: close\r\n/i, 'what was not read is not read')
  const plain = await plainRaw(port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  t.notMatch(plain, /200 OK/)
})

t.test('what cannot be read as a request is told so in the body of any other error', async (t) => {
  const at = await serving(t, await world(t))
  const got = await raw(at, 'NO HTTP AT ALL\r\n\r\n')
  t.equal(statusOf(got), 400)
  t.match(got, /\r\nX-Request-Id: [\s\S]*"code":"http_malformed"/)
  const told = ['HPE_HEADER_OVERFLOW', 'ERR_HTTP_REQUEST_TIMEOUT', 'HPE_INVALID_METHOD']
    .map((code) => unreadable(Object.assign(new Error(code), { code }), 9))
  t.strictSame(told.map(({ status, error }) => [status, error.code]), [
    [431, 'http_head_too_large'], [408, 'http_head_slow'], [400, 'http_malformed'],
  ])
})

t.test('a client that expects to be told is told only once it may send', async (t) => {
  const at = await serving(t, await world(t))
  const { port } = at.started.identity
  const head = (token: string): string => [
    'POST /api/work-board/inputs HTTP/1.1', `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Expect: 100-continue',
    'Content-Length: 2', '', '',
  ].join('\r\n')
  const stranger = await raw(at, head('A'.repeat(43)))
  t.equal(statusOf(stranger), 401, 'no 100 before it')
  const socket = await opened(at)
  const told = await new Promise<string>((resolve) => {
    let got = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      got += chunk
      if (got.startsWith('HTTP/1.1 100') && !got.includes('400')) socket.write('{}')
      if (/HTTP\/1\.1 400[\s\S]*\n$/.test(got)) resolve(got)
    })
    socket.write(head(at.token()))
  })
  t.match(told, /^HTTP\/1\.1 100 Continue/)
  socket.destroy()
})

t.test('endpoints that are none, methods that they have not, ids of no form', async (t) => {
  const at = await serving(t, await world(t))
  for (const [method, path, status] of [
    ['GET', '/', 404], ['GET', '/api', 404], ['GET', '/api/status/', 404],
    ['POST', '/api/status', 405], ['DELETE', '/api/policy/revoke', 405],
    ['HEAD', '/healthz', 405], ['OPTIONS', '/api/status', 405], ['PUT', '/healthz', 405],
    ['GET', '/api/work-board/tasks/a%20b', 404], ['GET', '/api/work-board/tasks/ä', 404],
    ['GET', `/api/work-board/tasks/${'a'.repeat(81)}`, 404],
    ['GET', '/api/work-board/tasks/task_x', 404],
    ['GET', '/api/work-board/tasks?limit=1&limit=2', 400],
    ['GET', '/api/work-board/tasks?limit=01', 400], ['GET', '/api/work-board/tasks?nope=1', 400],
    ['GET', '/healthz?x=1', 400],
  ] as const) {
    const got = await at.ask(method, encodeURI(path).replaceAll('%25', '%'))
    t.equal(got.status, status, `${method} ${path}`)
    if (status === 405) {
      t.type(got.headers['allow'], 'string')
      if (method !== 'HEAD') t.equal(got.json().error.code, 'http_method')
    }
    const isNone = path === '/' || /%20|ä|aaaa/.test(path)
    if (isNone) t.equal(got.json().error.code, 'no_such_endpoint', path)
  }
  const gone = await at.ask('GET', '/api/status', { token: null })
  t.equal(gone.status, 401)
  t.equal(gone.headers['www-authenticate'], 'Bearer')
  t.equal(gone.headers['sallyport-api'], '1')
  t.equal(gone.headers['cache-control'], 'no-store')
})

t.test('what is wrong about a request is told to nobody who is a stranger', async (t) => {
  const at = await serving(t, await world(t))
  const codes = async (token?: null): Promise<readonly string[]> => {
    const all = await Promise.all([
      ['GET', '/api/work-board/tasks?nope=1'], ['POST', '/api/work-board/inputs'],
      ['GET', '/api/overview?nope=1'], ['GET', '/api/work-board/tasks/task_x'],
      ['GET', '/api/session'],
    ].map(([method = '', path = '']) => at.ask(method, path, token === null ? { token } : {})))
    return all.map((got) => (got.status === 200 ? 'ok' : String(got.json().error.code)))
  }
  t.strictSame(await codes(null), Array.from({ length: 5 }, () => 'session_required'))
  t.strictSame(await codes(), [
    'http_query', 'http_body_missing', 'http_query', 'task_not_found', 'ok',
  ])
})
