import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:tls'
import { systemClock } from '../../src/base/clock.js'
import type { Clock } from '../../src/base/clock.js'
import { ContactError, contactOf, noteContact } from '../../src/net/contact-error.js'
import { newAuthority } from '../support/net/certs.js'
import {
  ask, client, failureOf, name, recorder, reply, serve, trusted,
} from '../support/net/world.js'
import type { Answer } from '../support/net/world.js'
import { patienceMs, timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'

const ok = 'HTTP/1.1 200 OK'
const fine: Answer = (socket) => socket.end(reply(ok))

/** A TCP server that records what it gets and does what it is told. */
const rawServer = async (onSocket: (socket: Socket) => void) => {
  const got: Buffer[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => got.push(Buffer.from(chunk)))
    onSocket(socket)
  })
  server.unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  return { port, url: `https://${name}:${port}/`, received: () => Buffer.concat(got), close }
}

t.test('A-004 an untrusted, expired or wrong-host certificate stops the request', async (t) => {
  const other = await newAuthority('Nobody knows')
  const certificates = {
    untrusted: await other.issue([name]),
    expired: await trusted.authority.issue([name], { notAfter: new Date(Date.now() - 86_400_000) }),
    'wrong host': await trusted.authority.issue(['other.test', '127.0.0.1']),
  }
  for (const [what, certificate] of Object.entries(certificates)) {
    const server = await serve(fine, {}, certificate)
    for (const method of ['POST', 'GET'] as const) {
      t.hasStrict(await failureOf(client().request(ask(server.url, { method }))),
        { code: 'tls_failed', contact: 'none', kind: 'remote' }, what)
    }
    t.equal(server.connections(), 2, 'it was dialled')
    t.equal(server.applicationBytes(), 0)
    t.equal(server.requests.length, 0)
    server.close()
  }
})

t.test('A-004 an address literal must stand in the certificate too', async (t) => {
  const named = await serve(fine, {}, await trusted.authority.issue([name]))
  t.teardown(named.close)
  const url = `https://127.0.0.1:${named.port}/`
  t.hasStrict(await failureOf(client().request(ask(url))), { code: 'tls_failed', contact: 'none' })
  const both = await serve(fine)
  t.teardown(both.close)
  const { steps, hooks } = recorder()
  const noResolver = { resolve: async () => t.fail('a literal is not looked up') as never }
  const got = await client(noResolver).request(ask(`https://127.0.0.1:${both.port}/`, hooks))
  t.equal(got.status, 200)
  t.strictSame(steps, ['before_resolve', 'before_dial', 'mark', 'before_first_byte'])
})

t.test('A-004 a server that only speaks TLS 1.1 is refused', async (t) => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const server = await serve(fine, old)
  t.teardown(server.close)
  const lenient = connect({ port: server.port, host: '127.0.0.1', ca: trusted.ca,
    servername: name, ...old })
  await once(lenient, 'secureConnect')
  t.equal(lenient.getProtocol(), 'TLSv1.1', 'a client without the rule gets through')
  lenient.destroy()
  t.hasStrict(await failureOf(client().request(ask(server.url))), { code: 'tls_failed',
    contact: 'none' })
  t.equal(server.applicationBytes(), 0)
})

t.test('A-004 a server that speaks plain HTTP gets a TLS hello and nothing readable', async (t) => {
  const server = await rawServer((socket) => socket.on('data', () => socket.end(reply(ok))))
  t.teardown(server.close)
  const body = Buffer.from('the secret question')
  const headers = { authorization: 'Bearer secret-key' }
  t.hasStrict(await failureOf(client().request(ask(server.url, { body, headers }))),
    { code: 'tls_failed', contact: 'none' })
  t.equal(server.received()[0], 0x16, 'a TLS record')
  t.notMatch(server.received().toString('latin1'), /secret|POST|HTTP/)
})

t.test('a refused dial, a closed connection, a failed look-up: nothing was sent', async (t) => {
  const gone = await serve(fine)
  gone.close()
  t.hasStrict(await failureOf(client().request(ask(gone.url))),
    { code: 'connect_failed', contact: 'none', kind: 'remote' })
  const rude = await rawServer((socket) => socket.resetAndDestroy())
  t.teardown(rude.close)
  const { code, contact } = await failureOf(client().request(ask(rude.url)))
  t.ok(['connect_failed', 'tls_failed'].includes(code))
  t.equal(contact, 'none')
  const silent = await rawServer((socket) => socket.end())
  t.teardown(silent.close)
  t.hasStrict(await failureOf(client().request(ask(silent.url))), { contact: 'none' })
  for (const resolve of [
    () => Promise.reject(new Error('ENOTFOUND secret.internal')),
    async () => [],
    () => { throw new Error('broken resolver') },
  ]) {
    const { hooks, steps } = recorder()
    const failure = await failureOf(client({ resolve }).request(ask(gone.url, hooks)))
    t.hasStrict(failure, { code: 'dns_failed', contact: 'none', kind: 'remote' })
    t.notMatch(failure.error.message, /secret/)
    t.strictSame(steps, ['before_resolve'], 'no mark for a host that has no address')
  }
})

t.test('an address of the wrong kind is refused before the mark', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  const answers: [boolean, string[]][] = [
    [true, ['192.0.2.1']], [true, ['10.0.0.1']], [true, ['127.0.0.1', '10.0.0.1']],
    [true, ['::ffff:127.0.0.1']], [true, ['127.1']],
    [false, ['127.0.0.1']], [false, ['::1']], [false, ['93.184.216.34', '127.0.0.1']],
    [false, ['169.254.169.254']],
  ]
  for (const [loopbackOnly, found] of answers) {
    const { hooks, steps } = recorder()
    const resolve = async () => found.map((address) => ({ address, family: 4 as const }))
    const failure = await failureOf(client({ loopbackOnly, resolve }).request(ask(server.url,
      hooks)))
    t.hasStrict(failure, { code: 'address_refused', contact: 'none' }, found.join())
    t.strictSame(steps, ['before_resolve'])
  }
  for (const [loopbackOnly, host] of [[false, '127.0.0.1'], [false, '0x7f.1'], [false,
    '2130706433'],
    [false, '[::1]'], [false, '[::ffff:127.0.0.1]'], [false, 'localhost'], [true, '10.1.2.3'],
    [true, '[fe80::1]'], [false, '0'], [false, '169.254.169.254']] as const) {
    const url = `https://${host}:${server.port}/`
    t.hasStrict(await failureOf(client({ loopbackOnly }).request(ask(url))),
      { code: 'address_refused', contact: 'none' }, host)
  }
  t.equal(server.connections(), 0)
})

t.test('one look-up per request, and the address it gave is the one dialled', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  let lookUps = 0
  // A second look-up would lead away: this is what rebinding does.
  const resolve = async () => [
    { address: ++lookUps === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 as const },
    { address: '127.0.0.8', family: 4 as const },
  ]
  t.equal((await client({ resolve }).request(ask(server.url))).status, 200)
  t.equal(lookUps, 1)
  t.equal(server.connections(), 1)
})

t.test('a reply cut short is a failure, however it is framed', async (t) => {
  const cuts: Record<string, string> = {
    'shorter than its length': `${ok}\r\ncontent-length: 20\r\n\r\n{"ok":true}`,
    'cut inside a chunk': `${ok}\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"ok`,
    'cut before the last chunk': `${ok}\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"ok":true}\r\n`,
    'cut in the last chunk': `${ok}\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"ok":true}\r\n0\r\n`,
  }
  for (const [what, text] of Object.entries(cuts)) {
    const server = await serve((socket) => socket.end(text))
    t.hasStrict(await failureOf(client().request(ask(server.url))),
      { code: 'truncated', contact: 'possible', kind: 'remote' }, what)
    server.close()
  }
})

t.test('a connection that breaks before or within the reply had contact', async (t) => {
  const mid = await serve((socket, _seen, _index, reset) => {
    socket.write(`${ok}\r\ncontent-length: 20\r\n\r\n{"ok":true}`, () => setTimeout(reset, 20))
  })
  t.teardown(mid.close)
  t.hasStrict(
    await failureOf(client().request(ask(mid.url))), { code: 'reset', contact: 'possible' }
  )
  const early = await serve((socket) => socket.end())
  t.teardown(early.close)
  t.hasStrict(
    await failureOf(client().request(ask(early.url))), { code: 'reset', contact: 'possible' }
  )
  const heads = await serve((socket) => socket.end(`${ok}\r\ncontent-le`))
  t.teardown(heads.close)
  t.hasStrict(await failureOf(client().request(ask(heads.url))), { contact: 'possible',
    kind: 'remote' })
})

t.test('a reply that is not HTTP is a failure that holds none of its bytes', async (t) => {
  const texts = ['SECRET hello\r\n\r\n', `${ok}\r\nSECRET\u0001: x\r\n\r\n`,
    `${ok}\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nSECRET`,
    `${ok}\r\nx: SECRET\u0001\r\ncontent-length: 2\r\n\r\n{}`,
    `${ok}\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nSECRET`,
    `${ok}\r\nx: ${'SECRET'.repeat(20_000)}\r\n\r\n`,
    `${ok}\r\ntransfer-encoding: chunked\r\n\r\nSECRET\r\n`,
      'HTTP/1.1 101 SECRET\r\nupgrade: x\r\n\r\n']
  for (const text of texts) {
    const server = await serve((socket) => socket.end(text))
    const { error, ...rest } = await failureOf(client().request(ask(server.url)))
    t.hasStrict(rest, { contact: 'possible', kind: 'remote' })
    const told = `${error.message} ${JSON.stringify(error)} ${error.stack} ${String(error.cause)}`
    t.notMatch(told, /SECRET/)
    server.close()
  }
})

t.test('one deadline ends a hang before the headers, a hung body and a slow drip', async (t) => {
  const drip: Answer = (socket) => {
    socket.write(`${ok}\r\ncontent-length: 100000\r\n\r\n`)
    const timer = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const headerDrip: Answer = (socket) => {
    socket.write(ok)
    const timer = setInterval(() => socket.write('\r\nx: y'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const informed: Answer = (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early\r\n\r\n'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const hungBody: Answer = (socket) => void socket.write(`${ok}\r\ncontent-length: 9\r\n\r\n{`)
  for (const answer of [drip, headerDrip, informed, hungBody, () => undefined]) {
    const server = await serve(answer)
    t.hasStrict(await failureOf(client().request(ask(server.url, { timeoutMs: timeOf(10) }))),
      { code: 'timeout', contact: 'possible', kind: 'remote' })
    server.close()
  }
})

t.test('the deadline also ends a hung look-up, a hung handshake and hung authority', async (t) => {
  const never = () => new Promise<never>(() => undefined)
  const hung = await rawServer(() => undefined)
  t.teardown(hung.close)
  const server = await serve(fine)
  t.teardown(server.close)
  const none = { code: 'timeout', contact: 'none' }
  const unresolved = client({ resolve: never }).request(ask(server.url, { timeoutMs: 100 }))
  t.hasStrict(await failureOf(unresolved), none)
  t.hasStrict(await failureOf(client().request(ask(hung.url, { timeoutMs: timeOf(3) }))), none)
  for (const at of ['before_resolve', 'before_dial', 'before_first_byte']) {
    const authority = (point: string) => (point === at ? never() : undefined)
    const asked = client().request(ask(server.url, { timeoutMs: timeOf(5), authority }))
    t.hasStrict(await failureOf(asked), none, at)
  }
  t.hasStrict(await failureOf(client().request(ask(server.url, { timeoutMs: 0 }))), none)
  t.hasStrict(await failureOf(client().request(ask(server.url, { timeoutMs: -5 }))), none)
  t.equal(server.applicationBytes(), 0)
  await t.rejects(client().request(ask(server.url, { timeoutMs: Number.NaN })),
    new RangeError('timeoutMs is not a number of range'))
})

t.test('the mark is waited for, and time that ran out meanwhile sends nothing', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  let marked = false
  const markContact = async (): Promise<void> => {
    await systemClock.sleep(timeOf(30))
    marked = true
  }
  const asked = ask(server.url, { timeoutMs: timeOf(10), markContact })
  t.hasStrict(await failureOf(client().request(asked)), { code: 'timeout', contact: 'none' })
  t.ok(marked, 'it had finished when the failure was told')
  t.equal(server.connections(), 0)
})

t.test('time spent with a busy event loop counts, even when no timer could fire', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  let now = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const authority = (point: string): void => {
    if (point === 'before_first_byte') now += 2 * patienceMs()
  }
  t.hasStrict(await failureOf(client({ clock }).request(ask(server.url, { authority }))),
    { code: 'timeout', contact: 'none' })
  t.equal(server.applicationBytes(), 0)
})

t.test('a cancelled request ends at once and says whether it may have arrived', async (t) => {
  const server = await serve((_socket, _seen,
    index) => (index === 0 ? controller.abort() : undefined))
  t.teardown(server.close)
  const controller = new AbortController()
  t.hasStrict(await failureOf(client().request(ask(server.url, { signal: controller.signal }))),
    { code: 'cancelled', contact: 'possible', kind: 'cancelled' })
  const { steps, hooks } = recorder()
  t.hasStrict(await failureOf(
    client().request(ask(server.url, { ...hooks, signal: controller.signal })),
  ), { code: 'cancelled', contact: 'none' })
  t.strictSame(steps, [], 'a signal that has fired lets nothing begin')
  for (const at of ['before_resolve', 'before_dial', 'before_first_byte']) {
    const stop = new AbortController()
    const authority = (point: string): void => (point === at ? stop.abort() : undefined)
    t.hasStrict(await failureOf(
      client().request(ask(server.url, { authority, signal: stop.signal })),
    ), { code: 'cancelled', contact: 'none' }, at)
  }
  const last = new AbortController()
  const late = await serve((socket) => {
    socket.write(`${ok}\r\ncontent-length: 9\r\n\r\n{`)
    setTimeout(() => last.abort(new Error('SECRET')), 30)
  })
  t.teardown(late.close)
  const failure = await failureOf(client().request(ask(late.url, { signal: last.signal })))
  t.hasStrict(failure, { code: 'cancelled', contact: 'possible' })
  t.notMatch(String(failure.error.stack), /SECRET/)
})

t.test('contact is only ruled out by proof', async (t) => {
  t.equal(contactOf(new Error('from elsewhere')), 'possible')
  t.equal(contactOf('text'), 'possible')
  t.equal(contactOf(null), 'possible')
  t.equal(contactOf(new ContactError('timeout', 'none', 'x')), 'none')
  const error = new Error('mine')
  noteContact(error, 'possible')
  noteContact(error, 'none')
  t.equal(contactOf(error), 'possible', 'the first proof stands')
  noteContact('text', 'none')
  t.throws(() => client({ ca: [] }),
    new RangeError('a client without roots trusts nobody'), 'no roots, no client')
})
