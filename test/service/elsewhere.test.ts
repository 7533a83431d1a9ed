/**
 * Devices of other machines: a bridge of TCP leads from their place to a port of loopback, where
 * nothing is but what devices ask.
 */
import { once } from 'node:events'
import { connect as tcpConnect } from 'node:net'
import { request as httpsRequest } from 'node:https'
import { connect as tlsConnect } from 'node:tls'
import { serviceIdentity } from '../../src/governance/service/identity.js'
import { openBridge, type Bridge } from '../support/service/bridge.js'
import { headOf, headText, offeredAt } from '../support/service/devices.js'
import { codeOf } from '../support/edge/uploading.js'
import { launched, started as startedProcess } from '../support/service/process.js'
import { askBy, serving, type Asking, type Got, type Serving } from '../support/service/serving.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import { World } from '../world/world.js'

const name = 'desk.example'

/** The port of loopback that connections from elsewhere are forwarded to. */
const forwardOf = ({ started }: Serving): number =>
  Number(started.identity.public?.forward_to.split(':').at(-1))

/** A service that is found by a bridge, and a client of it elsewhere. */
const elsewhere = async (t: Parameters<typeof World.in>[0], host = name) => {
  const world = await World.in(t).state().session()
  const bridge = await openBridge(t)
  const place = `${host}:${bridge.port}`
  const at = await serving(t, world, { public: place })
  bridge.leadTo(forwardOf(at))
  return { world, bridge, place, at, ask: askerOf(at, bridge, place) }
}

type Ask = (method: string, path: string, asking?: Asking) => Promise<Got>

/** Asks by the bridge under the Host of the place, unless it is given another. */
const askerOf = ({ started }: Serving, bridge: Bridge, place: string): Ask =>
  (method, path, asking = {}) => askBy(httpsRequest, {
    port: bridge.port, method, path, ca: [started.identity.certificate], servername: name,
    checkServerIdentity: () => undefined,
  }, { ...asking, headers: { Host: place, ...asking.headers } })

const errorOf = (got: Got): readonly [number, string] => [got.status, got.json().error.code]

/** All that comes back for bytes as they are, up to so many refusals. */
const raw = (at: Serving, port: number, text: string, replies = 1): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = tlsConnect({
      host: '127.0.0.1', port, ca: [at.started.identity.certificate],
      checkServerIdentity: () => undefined,
    }, () => void socket.write(text))
    let got = ''
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString('latin1')
      if (got.split('"next":').length > replies) socket.end()
    })
    socket.on('close', () => resolve(got))
    socket.on('error', reject)
  })

/** Codes of refusals and statuses, in their order. */
const heard = (text: string): readonly string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})|"code":"([a-z_]+)"/g)].map(([, a, b]) => a ?? b ?? '')

t.test('S-195 S-197 by the place for machines elsewhere a device is paired, sends, and reads back what it sent', async (t) => {
  const { world, at, ask, place } = await elsewhere(t)
  const origin = at.started.identity.public?.origin ?? ''
  t.equal(origin, `https://${place}`)
  const line = await offeredAt(world, { origin, pin: at.started.identity.pin })
  const paired = await ask('POST', '/api/edge/pairings', {
    body: { code: codeOf(line), device_name: 'far' },
  })
  t.equal(paired.status, 201)
  const token = String(paired.json().credential)
  const body = image(1)
  const sent = await ask('POST', '/api/edge/artifacts', {
    token, body,
    headers: { 'Content-Type': 'image/png', 'Sallyport-Edge-Upload': headText(headOf(body, 1)) },
  })
  t.equal(sent.status, 201, sent.bytes.toString())
  const path = `/api/edge/artifacts/${String(sent.json().artifact_id)}`
  t.equal((await ask('GET', path, { token })).json().sha256, headOf(body, 1).sha256)
  t.ok((await ask('GET', `${path}/bytes`, { token })).bytes.equals(body))
  t.equal((await ask('GET', '/api/edge/pairing', { token })).json().last_sequence, 1)
  t.equal((await ask('POST', '/api/edge/pairing/spool', { token, body: { evictions: 2 } })).status,
    200)
  must(await world.run(['edge', 'revoke', String(paired.json().device_id)]))
  t.strictSame(errorOf(await ask('GET', path, { token })), [401, 'edge_credential_revoked'])
})

t.test('S-178 S-188 S-195 by the place for machines elsewhere nothing else is there, whatever token is shown and whatever the headers say', async (t) => {
  const { at, ask } = await elsewhere(t)
  const { paths } = await at.get('/openapi.json')
  const own = new Set([
    'POST /api/edge/pairings', 'GET /api/edge/pairing', 'POST /api/edge/pairing/spool',
    'POST /api/edge/pairing/end', 'POST /api/edge/artifacts',
    'GET /api/edge/artifacts/{artifact_id}', 'GET /api/edge/artifacts/{artifact_id}/bytes',
  ])
  const all = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  t.ok(all.length > 40 && [...own].every((one) => all.includes(one)), `${all.length} endpoints`)
  const id = '01890000-0000-7000-8000-000000000000'
  for (const one of all.filter((place) => !own.has(place))) {
    const [method = '', path = ''] = one.split(' ')
    const got = await ask(method, path.replace(/\{\w+\}/g, id), {
      token: at.token(), headers: { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
    })
    t.strictSame(errorOf(got), [421, 'http_host'], one)
  }
  const none = ['/', '/page.js', '/api/page/day', '/api/nothing', '/api/edge/artifacts/a/b']
  for (const path of none) {
    t.strictSame(errorOf(await ask('GET', path)), [421, 'http_host'], path)
  }
  const artifact = `/api/edge/artifacts/edge_art_${id}`
  for (const path of [artifact, `${artifact}/bytes`]) {
    const got = await ask('GET', path, { token: at.token() })
    t.strictSame(errorOf(got), [401, 'edge_credential_invalid'], 'a session opens nothing there')
    t.strictSame(errorOf(await at.ask('GET', path)), [404, 'edge_artifact_not_found'], 'but here')
  }
  t.equal((await at.ask('GET', '/api/session')).status, 200, 'what is asked here goes on')
})

t.test('S-178 S-188 S-197 a Host of this machine opens nothing behind the bridge, and that of the place nothing here: each request is judged for itself', async (t) => {
  const { at, ask, place, bridge } = await elsewhere(t)
  const { port } = at.started.identity
  const gate = forwardOf(at)
  const token = at.token()
  const hosts = [
    `127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `127.0.0.1:${gate}`,
    `localhost:${gate}`, `127.0.0.1:${bridge.port}`, name, `${name}.:${bridge.port}`,
    `${name}:${bridge.port + 1}`, `x.${name}:${bridge.port}`, `${name}:${bridge.port}, ${place}`,
    `ann@${place}`, ` ${place} x`, '',
  ]
  for (const Host of hosts) {
    for (const path of ['/api/session', '/healthz', '/api/edge/pairing']) {
      const got = await ask('GET', path, { token, headers: { Host } })
      t.strictSame(errorOf(got), [421, 'http_host'], `${Host} ${path}`)
    }
  }
  t.strictSame(
    errorOf(await ask('GET', '/api/edge/pairing', { headers: { Host: place.toUpperCase() } })),
    [401, 'edge_credential_required'], 'names have no case')
  const get = (target: string, host: string, version = '1.1'): string =>
    `GET ${target} HTTP/${version}\r\n${host}Authorization: Bearer ${token}\r\n\r\n`
  const [far, near] = [`Host: ${place}\r\n`, `Host: 127.0.0.1:${port}\r\n`]
  for (const path of ['/api/edge/pairing', '/api/session', '/healthz']) {
    t.strictSame(heard(await raw(at, port, get(path, far))), ['421', 'http_host'], `${path} here`)
  }
  const pipelined = await raw(at, bridge.port,
    get('/api/edge/pairing', far) + get('/api/session', near) + get('/api/edge/pairing', far), 3)
  t.strictSame(heard(pipelined), [
    '401', 'edge_credential_invalid', '421', 'http_host', '401', 'edge_credential_invalid',
  ])
  const others: readonly (readonly [string, readonly string[]])[] = [
    [get('/api/edge/pairing', far + near), ['400', 'http_header_repeated']],
    [get('/api/edge/pairing', far + far), ['400', 'http_header_repeated']],
    [get(`https://127.0.0.1:${port}/api/session`, far), ['400', 'http_target']],
    [get(`https://${place}/api/edge/pairing`, far), ['400', 'http_target']],
    [get('/api/edge/pairing', ''), ['421', 'http_host']],
    [get('/api/session', '', '1.0'), ['421', 'http_host']],
    [get('/api/session', near, '1.0'), ['421', 'http_host']],
    [get('/api/edge/pairing', far, '1.0'), ['401', 'edge_credential_invalid']],
    [get('/api/edge/../session', far), ['400', 'http_target']],
  ]
  for (const [text, wanted] of others) {
    t.strictSame(heard(await raw(at, bridge.port, text)), wanted, text.split('\r\n')[0] ?? '')
  }
  t.equal((await at.ask('GET', '/api/session')).status, 200)
})

t.test('what is refused by its place is refused before a byte of its body is read', async (t) => {
  const { at, place, bridge } = await elsewhere(t)
  const text = ['POST /api/observer/screenshot-folder/scan HTTP/1.1', `Host: ${place}`,
    'Content-Type: application/json', 'Content-Length: 1000', 'Expect: 100-continue', '', '']
  t.strictSame(heard(await raw(at, bridge.port, text.join('\r\n'))), ['421', 'http_host'])
})

t.test('it listens on loopback alone, and on the same port at each start; without a place devices elsewhere find nothing, and the port is kept', async (t) => {
  const world = await World.in(t).state().session()
  const first = await serving(t, world)
  t.equal(first.started.identity.public, null)
  await first.stop()
  const second = await serving(t, world, { public: `${name}:8443` })
  const port = forwardOf(second)
  t.not(port, second.started.identity.port)
  const refused = { code: 'ECONNREFUSED' }
  await t.rejects(once(tcpConnect({ host: '127.0.0.2', port }), 'connect'), refused)
  await second.stop()
  const third = await serving(t, world)
  t.equal(third.started.identity.public, null)
  await t.rejects(once(tcpConnect({ host: '127.0.0.1', port }), 'connect'), refused)
  const pair = async (...more: string[]): Promise<string> =>
    must(await world.run(['edge', 'pair', '--json', '--file', world.place.path(`p${Math.random()}`),
      ...more])).json().origin
  t.equal(await pair(), third.started.identity.origin)
  await third.stop()
  const fourth = await serving(t, world, { public: `other.example:1` })
  t.equal(forwardOf(fourth), port)
  t.equal(fourth.started.publicPortChanged, false)
  t.equal(await pair(), 'https://other.example:1', 'the line names the place')
  t.equal(await pair('--here'), fourth.started.identity.origin)
  await fourth.stop()
  t.equal(await pair(), 'https://other.example:1', 'also while nobody serves')
  const squatter = await serving(t, await World.in(t).state().session(), { port })
  const fifth = await serving(t, world, { public: `other.example:1` })
  t.not(forwardOf(fifth), port, 'programs of this machine do not wait for those elsewhere')
  t.equal(fifth.started.publicPortChanged, true)
  t.strictSame(serviceIdentity({ store: world.open('read') }).public,
    fifth.started.identity.public)
  await squatter.stop()
})

t.test('whoever holds connections to the place by the hundred keeps out no device and no program of this machine', async (t) => {
  const { at, ask, bridge } = await elsewhere(t)
  const held = Array.from({ length: 600 }, () =>
    tcpConnect({ host: '127.0.0.1', port: bridge.port }).on('error', () => undefined))
  t.teardown(() => held.forEach((one) => one.destroy()))
  await Promise.all(held.map((one) => once(one, 'connect')))
  t.strictSame(errorOf(await ask('GET', '/api/edge/pairing')), [401, 'edge_credential_required'])
  t.equal((await at.ask('GET', '/api/session')).status, 200)
})

t.test('a device that has shown its credential is no newcomer: what it sends is not cut off, however many come behind it', async (t) => {
  const { world, at, place, bridge, ask } = await elsewhere(t)
  const { pin, certificate } = at.started.identity
  const line = await offeredAt(world, { origin: at.started.identity.public?.origin ?? '', pin })
  const paired = await ask('POST', '/api/edge/pairings', {
    body: { code: codeOf(line), device_name: 'far' },
  })
  const body = image(1)
  const uploads = httpsRequest({
    port: bridge.port, host: '127.0.0.1', method: 'POST', path: '/api/edge/artifacts', agent: false,
    ca: [certificate], checkServerIdentity: () => undefined, headers: {
      'Host': place, 'Authorization': `Bearer ${String(paired.json().credential)}`,
      'Content-Type': 'image/png', 'Content-Length': String(body.length), 'Expect': '100-continue',
      'Sallyport-Edge-Upload': headText(headOf(body, 1)),
    },
  })
  const answered = once(uploads, 'response')
  await once(uploads, 'continue')
  const held = Array.from({ length: 200 }, () =>
    tcpConnect({ host: '127.0.0.1', port: bridge.port }).on('error', () => undefined))
  t.teardown(() => held.forEach((one) => one.destroy()))
  await Promise.all(held.map((one) => once(one, 'connect')))
  await until('the oldest newcomers to go', () => held.some(({ closed }) => closed))
  uploads.end(body)
  const [response] = await answered
  t.equal(response.statusCode, 201)
  response.resume()
})

t.test('wrong codes from elsewhere end no code and keep no right one waiting', async (t) => {
  const { world, at, ask } = await elsewhere(t)
  const { pin } = at.started.identity
  const line = await offeredAt(world, { origin: at.started.identity.public?.origin ?? '', pin })
  const redeem = (code: string): Promise<Got> =>
    ask('POST', '/api/edge/pairings', { body: { code, device_name: 'far' } })
  const warned: string[] = []
  const hear = ({ name: kind }: Error): void => void warned.push(kind)
  process.on('warning', hear)
  t.teardown(() => void process.off('warning', hear))
  const wrong = Array.from({ length: 40 }, () => redeem('A'.repeat(22)).catch(() => null))
  t.equal((await redeem(codeOf(line))).status, 201)
  t.strictSame(errorOf(await redeem(codeOf(line))).at(-1), 'edge_code_refused', 'once')
  await at.stop()
  await Promise.all(wrong)
  t.strictSame(warned, [], 'nor is a log in JSON broken by a warning')
})

t.test('the log tells what came from elsewhere, and it takes no line of what was asked here', async (t) => {
  const world = await World.in(t).state().session()
  const bridge = await openBridge(t)
  const lines: string[] = []
  const place = `${name}:${bridge.port}`
  const at = await serving(t, world, {
    public: place, log: { write: (line) => lines.push(line), all: false },
  })
  bridge.leadTo(forwardOf(at))
  const ask = askerOf(at, bridge, place)
  for (let n = 0; n < 40; n += 1) await ask('GET', '/api/edge/pairing')
  await at.ask('GET', '/api/session', { token: null })
  const refused = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'refused')
  t.equal(refused.filter((one) => one.elsewhere === true).length, 30)
  t.equal(refused.filter((one) => one.elsewhere === undefined).length, 1)
})

t.test('the verb: where devices find it is told by serve, status and doctor, and a place that is none is refused by its rule', async (t) => {
  const { place } = await World.in(t).state().session()
  const bad = await launched(t, place, ['--public', 'ann:secret@desk.example:1'], () => false)
  t.equal(await bad.ended, 3)
  t.match(bad.err(), 'HOST:PORT')
  t.notMatch(bad.err(), 'secret')
  const at = await launched(t, place, ['--public', `${name}:8443`], (_, err) =>
    err.includes('edge pair'))
  t.match(at.err(), /^Devices elsewhere: https:\/\/desk\.example:8443, which you forward to 127\.0\.0\.1:\d+$/m)
  t.match(must(await place.run(['status'])).stdout,
    / at https:\/\/127\.0\.0\.1:\d+ and, for devices elsewhere, https:\/\/desk\.example:8443$/m)
  const { service } = await place.json(['status'])
  t.equal(service.public, 'https://desk.example:8443')
  t.match(must(await place.run(['doctor'])).stdout,
    /service elsewhere: https:\/\/desk\.example:8443, forwarded to 127\.0\.0\.1:\d+/)
  const other = await place.run(['serve', '--open', '--json', '--public', 'other.example:1'])
  t.strictSame([other.status, other.error().code], [11, 'service_running'])
  at.child.kill('SIGTERM')
  t.equal(await at.ended, 0)
  const without = await startedProcess(t, place)
  t.equal(without.told.public, null)
  t.equal((await place.json(['status'])).service.public, null)
  t.notMatch(must(await place.run(['doctor'])).stdout, 'service elsewhere')
})
