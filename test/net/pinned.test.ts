import { X509Certificate } from 'node:crypto'
import { createServer, isIP } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { systemClock } from '../../src/base/clock.js'
import { createPinnedClient } from '../../src/net/client.js'
import { pinOf } from '../../src/net/pin.js'
import type { HttpsClient, PinnedClientDeps } from '../../src/net/types.js'
import { ask, failureOf, recorder, reply, serve, trusted } from '../support/net/world.js'
import type { TestServer } from '../support/net/world.js'
import { newKey, selfSigned } from '../support/net/self-signed.js'
import { t } from '../support/tests-in-slices.js'

const ok = reply('HTTP/1.1 200 OK')
const fine = (pair = key1, options = {}) =>
  serve((socket) => socket.end(ok), options, pair)

const keys = await newKey()
const key1 = await selfSigned(keys, ['localhost', '127.0.0.1'])
const pinned = keys.pin

const clientOf = (server: { port: number }, over: Partial<PinnedClientDeps> = {}): HttpsClient =>
  createPinnedClient({
    clock: systemClock, env: {}, execArgv: [],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    origin: `https://127.0.0.1:${server.port}`, pin: pinned, ...over,
  })
const at = (server: { port: number }, host = '127.0.0.1') => `https://${host}:${server.port}/x`
const quiet = (server: TestServer) =>
  [server.requests.length, server.applicationBytes()] as const

t.test('the key that was pinned is reached without any root, by address and by localhost',
  async (t) => {
    const server = await fine()
    t.teardown(server.close)
    t.equal((await clientOf(server).request(ask(at(server)))).status, 200)
    const origin = `https://localhost:${server.port}`
    const named = clientOf(server, { origin })
    t.equal((await named.request(ask(at(server, 'localhost')))).status, 200)
    t.equal(server.requests.length, 2)
    t.equal(pinOf(new X509Certificate(key1.cert).publicKey.export({ type: 'spki', format: 'der' })),
      pinned)
  })

t.test('a squatter on the port with another key gets no byte of a request', async (t) => {
  const others = [
    await selfSigned(await newKey(), ['localhost', '127.0.0.1']),
    trusted.pair,
  ]
  for (const pair of others) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const server = await fine(pair, { maxVersion })
      const { hooks, steps } = recorder()
      const failed = await failureOf(clientOf(server).request(ask(at(server), hooks)))
      t.strictSame([failed.code, failed.contact], ['tls_failed', 'none'])
      t.notOk(steps.includes('before_first_byte'), 'nobody was asked for the first byte')
      t.strictSame(quiet(server), [0, 0])
      t.equal(server.connections(), 1, 'it was really reached')
      server.close()
    }
  }
})

t.test('a certificate that was renewed under the same key works, a lapsed one and one of another '
  + 'name as well: the key alone counts', async (t) => {
  const day = 86_400_000
  const now = Date.now()
  const certificates = [
    await selfSigned(keys, ['localhost'],
      { notBefore: new Date(now), notAfter: new Date(now + day) }),
    await selfSigned(keys, ['localhost'],
      { notBefore: new Date(now - 2 * day), notAfter: new Date(now - day) }),
    await selfSigned(keys, ['localhost'],
      { notBefore: new Date(now + day), notAfter: new Date(now + 2 * day) }),
    await selfSigned(keys, ['another.test']),
  ]
  for (const pair of certificates) {
    const server = await fine(pair)
    t.equal((await clientOf(server).request(ask(at(server)))).status, 200)
    server.close()
  }
})

t.test('nobody serves under the certificate of the pinned key without the key itself', async (t) => {
  const other = await newKey()
  const stolen = { cert: key1.cert, key: (await selfSigned(other, ['localhost'])).key }
  await t.rejects(fine(stolen),
    { code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' }, 'a server cannot even be made of it')
})

t.test('TLS before 1.2 and a port that speaks no TLS get nothing', async (t) => {
  const old = await fine(key1, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })
  t.teardown(old.close)
  const failed = await failureOf(clientOf(old).request(ask(at(old))))
  t.strictSame([failed.code, failed.contact], ['tls_failed', 'none'])
  t.strictSame(quiet(old), [0, 0])
  const plain = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(plain, 'listening')
  t.teardown(() => void plain.close())
  const { port } = plain.address() as AddressInfo
  const spoken = await failureOf(clientOf({ port }).request(ask(at({ port }))))
  t.strictSame([spoken.code, spoken.contact], ['tls_failed', 'none'])
})

t.test('only an https origin of one machine may be pinned, and only with a whole pin', async (t) => {
  const refused = (over: Partial<PinnedClientDeps>): unknown => {
    try {
      return clientOf({ port: 1 }, over)
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  for (const origin of [
    'http://127.0.0.1:4000', 'https://192.0.2.1:4000', 'https://0.0.0.0:1', 'https://224.0.0.1:1',
    'https://169.254.169.254:1', 'https://[fe80::1]:1', 'https://a_b.example:1',
    'https://a.example.:1',
    'https://127.0.0.1:4000/', 'https://127.0.0.1:4000/p',
    'https://u:p@127.0.0.1:4000', 'https://[::ffff:127.0.0.1]:4000', 'https://127.1:4000',
    'https://LOCALHOST:4000', 'localhost:4000', '', 'https://[2001:db8::1]:4000',
  ]) t.equal(refused({ origin }), 'url_refused', origin)
  for (const pin of ['', pinned.slice(7), `${pinned}=`, pinned.replace('sha256/', 'sha1/')]) {
    t.equal(refused({ pin }), 'pin_refused', pin)
  }
  for (const origin of [
    'https://[::1]:4000', 'https://127.8.9.1:4000', 'https://localhost:1', 'https://desk.example:1',
    'https://desk.example', 'https://10.0.0.7:4000', 'https://[fd12:3456::1]:4000',
    'https://8.8.8.8:4000', 'https://localhost.example.com:1', 'https://xn--bcher-kva.example:1',
  ]) {
    t.not(refused({ origin }), 'url_refused', origin)
  }
})

t.test('nothing but the pinned origin is contacted', async (t) => {
  const [server, other] = [await fine(), await fine()]
  t.teardown(() => { server.close(); other.close() })
  const plain = `http://127.0.0.1:${server.port}/x`
  for (const url of [at(other), at(server, 'localhost'), plain, 'x']) {
    const failed = await failureOf(clientOf(server).request(ask(url)))
    t.strictSame([failed.code, failed.contact], ['url_refused', 'none'])
  }
  t.strictSame([server.connections(), other.connections()], [0, 0])
})

t.test('localhost that is made to stand for another machine is not dialled', async (t) => {
  const server = await fine()
  t.teardown(server.close)
  for (const address of ['192.0.2.7', '10.0.0.7', '8.8.8.8']) {
    const client = clientOf(server, {
      origin: `https://localhost:${server.port}`,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }, { address, family: 4 }],
    })
    const failed = await failureOf(client.request(ask(at(server, 'localhost'))))
    t.strictSame([failed.code, failed.contact], ['address_refused', 'none'], address)
  }
  t.equal(server.connections(), 0)
})

t.test('S-197 a name that is no spelling of this machine may stand for any one machine, whose key alone counts; what stands for a group or a link is not dialled', async (t) => {
  const server = await fine()
  t.teardown(server.close)
  const named = (address: string): HttpsClient => clientOf(server, {
    origin: `https://desk.example:${server.port}`,
    resolve: async () => [{ address, family: isIP(address) === 6 ? 6 : 4 }],
  })
  const there = await named('127.0.0.1').request(ask(at(server, 'desk.example')))
  t.equal(there.status, 200)
  t.match(server.requests[0]?.head.toLowerCase(), `\r\nhost: desk.example:${server.port}\r\n`)
  t.equal(server.serverNames[0], 'desk.example', 'asked for by its name in the handshake')
  const none = ['169.254.169.254', '224.0.0.1', '0.0.0.0', 'fe80::1', '::ffff:127.0.0.1']
  for (const address of none) {
    const failed = await failureOf(named(address).request(ask(at(server, 'desk.example'))))
    t.strictSame([failed.code, failed.contact], ['address_refused', 'none'], address)
  }
  const another = await fine(await selfSigned(await newKey(), ['desk.example']))
  t.teardown(another.close)
  const between = clientOf(another, { origin: `https://desk.example:${another.port}` })
  const failed = await failureOf(between.request(ask(at(another, 'desk.example'))))
  t.strictSame([failed.code, failed.contact], ['tls_failed', 'none'], 'whoever is in between')
  t.strictSame(quiet(another), [0, 0])
})

t.test('every other rule holds for it: authority, redirects, sizes, deadline, debug output',
  async (t) => {
    const { hooks, steps } = recorder()
    const server = await serve((socket) =>
      socket.end(reply('HTTP/1.1 307 Moved\r\nlocation: /y', 'longer than ten bytes')), {}, key1)
    t.teardown(server.close)
    t.equal((await clientOf(server).request(ask(at(server), hooks))).status, 307)
    t.strictSame(steps, ['before_resolve', 'before_dial', 'mark', 'before_first_byte'])
    t.equal(server.requests.length, 1)
    const small = ask(at(server), { replyBytesMax: 10 })
    t.equal((await failureOf(clientOf(server).request(small))).code, 'reply_too_large')
    const silent = await serve(() => undefined, {}, key1)
    t.teardown(silent.close)
    const late = await failureOf(clientOf(silent).request(ask(at(silent), { timeoutMs: 400 })))
    t.equal(late.code, 'timeout')
    for (const deps of [{ env: { NODE_DEBUG: 'tls' } }, { execArgv: ['--tls-keylog=/dev/null'] }]) {
      const failed = await failureOf(clientOf(server, deps).request(ask(at(server))))
      t.strictSame([failed.code, failed.contact], ['debug_output_refused', 'none'])
    }
  })
