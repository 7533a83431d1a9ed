import { systemClock } from '../../src/base/clock.js'
import type { Clock } from '../../src/base/clock.js'
import {
  ask, client, closingsOf, failureOf, planting, reply, serve,
} from '../support/net/world.js'
import type { Answer } from '../support/net/world.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'

const ok = 'HTTP/1.1 200 OK'
const stay: Answer = (socket, _seen, index) => void socket.write(reply(ok, `{"n":${index}}`))
const get = { method: 'GET' } as const

t.test('GETs of a session share look-up and connection, and every check runs', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  let lookUps = 0
  const session = client({
    resolve: async () => (lookUps++, [{ address: '127.0.0.1', family: 4 }]),
  }).openSession()
  t.teardown(() => session.close())
  const points: string[] = []
  for (let round = 0; round < 5; round++) {
    const got = await session.request(ask(server.url, {
      ...get,
      authority: (point) => void points.push(point),
      markContact: () => void points.push('mark'),
    }))
    t.equal(got.body.toString(), `{"n":${round}}`)
  }
  t.equal(lookUps, 1)
  t.equal(server.connections(), 1)
  t.strictSame(points, Array(5).fill(
    ['before_resolve', 'before_dial', 'mark', 'before_first_byte'],
  ).flat())
  t.match(server.requests[0]?.head, /connection: keep-alive/i)
})

t.test('of 100 GETs on a kept connection without authority none goes out', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  let allowed = true
  let asked = 0
  const authority = (): void => {
    asked += 1
    if (!allowed) throw new Error('withdrawn')
  }
  await session.request(ask(server.url, { ...get, authority }))
  t.equal(server.requests.length, 1)
  allowed = false
  const before = server.applicationBytes()
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, () => session.request(ask(server.url, { ...get, authority }))),
  )
  await systemClock.sleep(50)
  t.equal(results.filter(({ status }) => status === 'rejected').length, 100)
  t.equal(asked, 103)
  t.equal(server.requests.length, 1)
  t.equal(server.applicationBytes(), before)
  t.equal(server.connections(), 1)
})

t.test('authority withdrawn at the third check stops a GET on a kept connection', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  await session.request(ask(server.url, get))
  const authority = (point: string): void => {
    if (point === 'before_first_byte') throw new Error('withdrawn')
  }
  t.hasStrict(await failureOf(session.request(ask(server.url, { ...get, authority }))),
    { contact: 'none' })
  await systemClock.sleep(20)
  t.equal(server.requests.length, 1)
})

t.test('a POST never uses a kept connection, and none keeps its connection', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  await session.request(ask(server.url, get))
  await session.request(ask(server.url))
  await session.request(ask(server.url))
  t.equal(server.connections(), 3)
  await session.request(ask(server.url, get))
  t.equal(server.connections(), 3, 'the GET went on with the first')
  await client().request(ask(server.url, get))
  await client().request(ask(server.url, get))
  t.equal(server.connections(), 5, 'and without a session every request has its own')
})

t.test('GETs at once get connections of their own, which later ones reuse', async (t) => {
  const server = await serve((socket, seen, index) => void setTimeout(
    () => socket.write(reply(ok, `${index} ${/ \/(\S*) /.exec(seen.head)?.[1] ?? ''}`)), 30))
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  const base = `https://provider.test:${server.port}`
  const round = async (): Promise<void> => {
    const replies = await Promise.all(Array.from({ length: 8 }, (_, n) =>
      session.request(ask(`${base}/${n}`, get))))
    replies.forEach(({ body }, n) => t.match(body.toString(), new RegExp(` ${n}$`)))
  }
  await round()
  await systemClock.sleep(20)
  await round()
  t.equal(server.connections(), 8)
})

t.test('a connection that the server closed or that idled too long is not reused', async (t) => {
  let now = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const closing = await serve((socket) => socket.end(reply(`${ok}\r\nconnection: close`)))
  t.teardown(closing.close)
  const first = client({ clock }).openSession()
  t.teardown(() => first.close())
  for (const expected of [1, 2]) {
    t.equal((await first.request(ask(closing.url, get))).status, 200)
    t.equal(closing.connections(), expected)
  }
  const later = await serve((socket) => {
    socket.write(reply(ok))
    setTimeout(() => socket.end(), 30)
  })
  t.teardown(later.close)
  const closed = closingsOf(later)
  const second = client({ clock }).openSession()
  t.teardown(() => second.close())
  await second.request(ask(later.url, get))
  await closed(1)
  t.equal((await second.request(ask(later.url, get))).status, 200)
  t.equal(later.connections(), 2)
  const idle = await serve(stay)
  t.teardown(idle.close)
  const third = client({ clock }).openSession()
  t.teardown(() => third.close())
  await third.request(ask(idle.url, get))
  await systemClock.sleep(20)
  now += 2_001
  await third.request(ask(idle.url, get))
  t.equal(idle.connections(), 2)
})

t.test('a failed GET ends its connection and is not repeated', async (t) => {
  const server = await serve((socket, seen, index, reset) =>
    index === 1 ? reset() : stay(socket, seen, index, reset))
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  await session.request(ask(server.url, get))
  await systemClock.sleep(20)
  t.hasStrict(await failureOf(session.request(ask(server.url, get))), { code: 'reset',
    contact: 'possible' })
  t.equal(server.requests.length, 2)
  t.equal((await session.request(ask(server.url, get))).status, 200)
  t.equal(server.connections(), 2)
})

t.test('a session stays with its host and ends when it is closed', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  const session = client().openSession()
  await session.request(ask(server.url, get))
  t.hasStrict(await failureOf(session.request(ask(`https://other.test:${server.port}/`, get))),
    { code: 'url_refused', contact: 'none' })
  const hung = await serve(() => undefined)
  t.teardown(hung.close)
  const other = client().openSession()
  const pending = failureOf(other.request(ask(hung.url, get)))
  await until('it is asked', () => hung.requests.length > 0)
  other.close()
  t.hasStrict(await pending, { contact: 'possible' })
  session.close()
  t.hasStrict(await failureOf(session.request(ask(server.url, get))), { code: 'url_refused' })
  t.equal(server.connections(), 1)
})

t.test('bytes that nobody asked for are never the answer to the next request', async (t) => {
  const planted = reply('HTTP/1.1 200 OK\r\nx-answer: planted')
  const server = await serve((socket, _seen, index) => {
    const own = reply(`HTTP/1.1 200 OK\r\nx-answer: ${index}`)
    socket.write(index === 0 ? Buffer.concat([own, planted]) : own)
  })
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  for (const index of [0, 1]) {
    const { headers } = await session.request(ask(server.url, { method: 'GET' }))
    t.strictSame(headers.get('x-answer'), [String(index)])
  }
})

t.test('bytes that came while the connection was idle are never the answer to the next request', async (t) => {
  const { server, plant } = await planting()
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  for (const index of [0, 1, 2]) {
    const { headers } = await session.request(ask(server.url, get))
    t.strictSame(headers.get('x-answer'), [String(index)])
    await plant(index + 1)
  }
  t.equal(server.connections(), 3, 'each was asked over a connection of its own')
})

t.test('an answer that came before the first byte of its request is none, and nothing is sent', async (t) => {
  for (const method of ['GET', 'POST'] as const) {
    const { server, plant } = await planting()
    t.teardown(server.close)
    const session = client().openSession()
    t.teardown(() => session.close())
    if (method === 'GET') await session.request(ask(server.url, get))
    const before = server.requests.length
    const authority = async (point: string): Promise<void> => {
      if (point === 'before_first_byte') await plant(1)
    }
    t.hasStrict(await failureOf(session.request(ask(server.url, { method, authority }))),
      { code: 'connect_failed', contact: 'none' }, method)
    t.equal(server.requests.length, before, method)
    const { headers } = await session.request(ask(server.url, get))
    t.strictSame(headers.get('x-answer'), [String(before)], 'the next one is answered itself')
  }
})

t.test('a session that was closed sends nothing more and reaches nobody', async (t) => {
  const server = await serve(stay)
  t.teardown(server.close)
  const session = client().openSession()
  await session.request(ask(server.url, get))
  session.close()
  t.hasStrict(await failureOf(session.request(ask(server.url, get))), {
    code: 'url_refused', contact: 'none',
  })
  t.equal(server.connections(), 1)
  t.equal(server.requests.length, 1)
})
