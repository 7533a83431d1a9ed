/** Several addresses: another one is dialled only where no TCP connection came about. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { newAuthority } from '../support/net/certs.js'
import {
  ask, client, failureOf, name, recorder, reply, serve, trusted, type Answer,
} from '../support/net/world.js'
import { t } from '../support/tests-in-slices.js'

const fine: Answer = (socket) => socket.end(reply('HTTP/1.1 200 OK'))
const found = (...addresses: string[]) =>
  async () => addresses.map((address) => ({ address, family: 4 as const }))

/** Whatever connects to the same port of another loopback address. */
const neighbour = async (t: Test, port: number, take: (socket: Socket) => void) => {
  let taken = 0
  const server = createServer((socket) => {
    taken += 1
    socket.on('error', () => undefined)
    take(socket)
  })
  server.unref().listen(port, '127.0.0.2')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return () => taken
}

t.test('where no TCP connection comes about the next address is dialled, under the same mark', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  const resolve = found('127.0.0.2', '127.0.0.3', '127.0.0.1')
  const { steps, hooks } = recorder()
  t.equal((await client({ resolve }).request(ask(server.url, hooks))).status, 200)
  t.strictSame(steps, ['before_resolve', 'before_dial', 'mark', 'before_first_byte'])
  t.equal(server.connections(), 1)
})

t.test('A-025 behind a TCP connection no other address is dialled: not after a reset, an end, a handshake or a reply that failed', async (t) => {
  const stranger = await (await newAuthority('Stranger')).issue([name])
  const ends: Readonly<Record<string, (socket: Socket) => void>> = {
    'a reset behind the first byte': (socket) =>
      void socket.once('data', () => socket.resetAndDestroy()),
    'an end': (socket) => void socket.end(),
    'no TLS': (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n'),
  }
  for (const [what, take] of Object.entries(ends)) {
    const server = await serve(fine)
    const taken = await neighbour(t, server.port, take)
    const resolve = found('127.0.0.2', '127.0.0.1')
    t.hasStrict(await failureOf(client({ resolve }).request(ask(server.url))),
      { code: 'tls_failed', contact: 'none' }, what)
    t.strictSame([taken(), server.connections()], [1, 0], what)
    server.close()
  }
  const failures: readonly [Answer, typeof stranger][] = [
    [fine, stranger], [(socket) => socket.end(), trusted.pair],
  ]
  for (const [answer, pair] of failures) {
    const server = await serve(answer, {}, pair)
    const taken = await neighbour(t, server.port, (socket) => void socket.destroy())
    await failureOf(client({ resolve: found('127.0.0.1', '127.0.0.2') }).request(ask(server.url)))
    t.strictSame([server.connections(), taken()], [1, 0])
    server.close()
  }
})

t.test('no more than four addresses are dialled, and the last failure is told', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  const dead = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']
  t.hasStrict(await failureOf(client({ resolve: found(...dead, '127.0.0.1') })
    .request(ask(server.url))), { code: 'connect_failed', contact: 'none' })
  t.equal(server.connections(), 0)
  t.equal((await client({ resolve: found(...dead.slice(1), '127.0.0.1') })
    .request(ask(server.url))).status, 200)
})

t.test('a session stays with the address that it reached first', async (t) => {
  const server = await serve((socket) =>
    socket.end(reply('HTTP/1.1 200 OK\r\nconnection: close')))
  t.teardown(server.close)
  const session = client({ resolve: found('127.0.0.2', '127.0.0.1') }).openSession()
  t.teardown(() => session.close())
  const get = ask(server.url, { method: 'GET' })
  t.equal((await session.request(get)).status, 200)
  const taken = await neighbour(t, server.port, (socket) => void socket.destroy())
  t.equal((await session.request(get)).status, 200)
  t.strictSame([server.connections(), taken()], [2, 0])
})

/** A port of 127.0.0.2 that takes no more connections: its queue is full and nobody accepts. */
const blackHole = async (t: Test, port: number): Promise<void> => {
  const child = spawn(process.execPath, ['-e', `
    require('net').createServer().listen({ port: ${port}, host: '127.0.0.2', backlog: 1 },
      () => process.stdout.write('listens', () => process.kill(process.pid, 'SIGSTOP')))`],
  { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => { said += bytes.toString() })
  await Promise.race([
    once(child.stdout, 'data'), once(child, 'close').then(() => { throw new Error(said) }),
  ])
  for (let full = false; !full;) {
    const socket = connect(port, '127.0.0.2').on('error', () => undefined)
    t.teardown(() => socket.destroy())
    const late = new AbortController()
    full = await Promise.race([
      once(socket, 'connect', { signal: late.signal }).then(() => false),
      systemClock.sleep(500, late.signal).then(() => true),
    ]).finally(() => late.abort())
  }
}

t.test('an address that never answers is given up for the next one, the last one is not', async (t) => {
  const server = await serve(fine)
  t.teardown(server.close)
  await blackHole(t, server.port)
  const waits: number[] = []
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      waits.push(ms)
      return systemClock.sleep(ms === 5_000 ? 50 : ms, signal)
    },
  }
  const asked = (...addresses: string[]) =>
    client({ clock, resolve: found(...addresses) }).request(ask(server.url, { timeoutMs: 20_000 }))
  t.equal((await asked('127.0.0.2', '127.0.0.1')).status, 200)
  t.equal(waits.filter((ms) => ms === 5_000).length, 1)
  const only = client({ clock, resolve: found('127.0.0.2') })
    .request(ask(server.url, { timeoutMs: 300 }))
  t.hasStrict(await failureOf(only), { code: 'timeout', contact: 'none' })
  t.equal(waits.filter((ms) => ms === 5_000).length, 1, 'the last one has the whole time')
})
