/** A request is collected whole before the last check, and leaves piece by piece after it. */
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { CollectingDuplex } from '../../src/net/collecting-duplex.js'
import {
  ask, client, failureOf, planting, readByAll, reply, serve,
} from '../support/net/world.js'
import { until } from '../support/until.js'

const ok = 'HTTP/1.1 200 OK'
const large = Buffer.alloc(5_000_000, 'abcdefg')
const roomy = { body: large, requestBytesMax: large.length }

t.test('a refusal of the last check sends nothing of a large request', async (t) => {
  const server = await serve((socket) => socket.end(reply(ok)))
  t.teardown(server.close)
  const bytesSeen: number[] = []
  const authority = async (point: string): Promise<void> => {
    if (point !== 'before_first_byte') return
    await until('TLS is up there', () => server.handshakes() === 1)
    await systemClock.sleep(50)
    bytesSeen.push(server.handshakes(), server.applicationBytes())
    throw new Error('withdrawn')
  }
  t.matchStrict(await failureOf(client().request(ask(server.url, { ...roomy, authority }))),
    { contact: 'none', error: { message: 'withdrawn' } })
  await systemClock.sleep(50)
  t.strictSame(bytesSeen, [1, 0], 'TLS was up and nothing had left')
  t.equal(server.applicationBytes(), 0)
})

t.test('a connection that ends during the last check had no contact', async (t) => {
  const server = await serve(() => undefined)
  t.teardown(server.close)
  const authority = async (point: string): Promise<void> => {
    if (point !== 'before_first_byte') return
    server.close()
    await readByAll()
  }
  t.hasStrict(await failureOf(client().request(ask(server.url, { authority }))),
    { code: 'connect_failed', contact: 'none', kind: 'remote' })
  t.equal(server.applicationBytes(), 0)
})

t.test('a head over its limit is refused before the last check', async (t) => {
  const server = await serve((socket) => socket.end(reply(ok)))
  t.teardown(server.close)
  const points: string[] = []
  const authority = (point: string): void => void points.push(point)
  const padded = (bytes: number) =>
    ask(server.url, { authority, headers: { 'x-padding': 'x'.repeat(bytes) } })
  t.hasStrict(await failureOf(client().request(padded(32_768))),
    { code: 'request_too_large', contact: 'none' })
  t.strictSame(points, ['before_resolve', 'before_dial'])
  t.equal(server.applicationBytes(), 0)
})

t.test('a large request reaches a server that reads slowly, whole and in order', async (t) => {
  const server = await serve((socket) => socket.end(reply(ok)))
  t.teardown(server.close)
  server.onConnection((socket) => socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), 1)
  }))
  const got = await client().request(ask(server.url, roomy))
  t.equal(got.status, 200)
  t.ok(server.requests[0]?.body.equals(large))
})

/** A server that answers at the first byte and reads no further. */
const hasty = async (answer: string) => {
  const server = await serve(() => undefined)
  server.onConnection((socket) => socket.once('data', () => {
    socket.pause()
    socket.write(answer)
  }))
  return server
}

t.test('a reply that comes before the request has left is the reply', async (t) => {
  const server = await hasty('HTTP/1.1 413 Too large\r\ncontent-length: 2\r\n\r\n{}')
  t.teardown(server.close)
  const body = Buffer.alloc(30_000_000)
  const got = await client().request(ask(server.url, { body, requestBytesMax: body.length }))
  t.equal(got.status, 413)
  t.equal(got.body.toString(), '{}')
  t.ok(server.applicationBytes() < body.length, 'the rest never left')
})

t.test('an abort while the request leaves: no further piece, and contact is possible', async (t) => {
  const stop = new AbortController()
  const server = await serve(() => undefined)
  t.teardown(server.close)
  server.onConnection((socket) => socket.once('data', () => {
    socket.pause()
    stop.abort()
    setTimeout(() => socket.resume(), 50)
  }))
  const body = Buffer.alloc(30_000_000)
  t.hasStrict(await failureOf(client().request(
    ask(server.url, { body, requestBytesMax: body.length, signal: stop.signal }),
  )), { code: 'cancelled', contact: 'possible' })
  await systemClock.sleep(200)
  t.ok(server.applicationBytes() < body.length)
})

t.test('bytes that nobody asked for end an idle connection', async (t) => {
  const { server, plant } = await planting()
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  for (const connections of [1, 2]) {
    const got = await session.request(ask(server.url, { method: 'GET' }))
    t.strictSame(got.headers.get('x-answer'), [String(connections - 1)])
    t.equal(server.connections(), connections)
    await plant(connections)
  }
})

t.test('each piece is at most 64 KiB and waits until the one before was taken', async (t) => {
  const pieces: number[] = []
  let take: () => void = () => undefined
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      pieces.push(chunk.length)
      take = done
    },
  })
  const duplex = new CollectingDuplex(socket as TLSSocket)
  const collected = duplex.collect(150_000)
  duplex.write('POST / HTTP/1.1\r\nhost: x\r\n')
  duplex.write('\r\n')
  duplex.write(Buffer.alloc(149_999))
  t.equal(await Promise.race([collected, systemClock.sleep(20)]), undefined, 'a byte is missing')
  duplex.write(Buffer.alloc(1))
  const whole = await collected
  t.equal(whole.length, 150_000 + 28)
  t.strictSame(pieces, [])
  const passed: string[] = []
  const released = duplex.release(whole, {
    enter: async () => void passed.push('enter'),
    look: async () => undefined,
    refuse: () => t.fail('nothing was refused'),
    leave: (last) => void passed.push(last ? 'last' : 'leave'),
  })
  for (const expected of [[65_536], [65_536, 65_536], [65_536, 65_536, 18_956]]) {
    await readByAll()
    t.strictSame(pieces, expected)
    take()
  }
  await released
  t.strictSame(passed, ['leave', 'enter', 'leave', 'enter', 'last'], 'the first was entered')
})

t.test('what is cut off goes no further: the connection is destroyed before the gate is left',
  async (t) => {
    // A kernel that takes nothing.
    const socket = new Duplex({ read: () => undefined, write: () => undefined })
    const duplex = new CollectingDuplex(socket as TLSSocket)
    const collected = duplex.collect(2)
    duplex.write('POST / HTTP/1.1\r\n\r\nab')
    const atLeave: boolean[] = []
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const [before, refused] = [timers(), [] as unknown[]]
    await t.rejects(duplex.release(await collected, {
      enter: async () => undefined,
      look: async () => { throw new Error('a stop') },
      refuse: (error) => void refused.push(error),
      leave: () => void atLeave.push(socket.destroyed),
    }), { message: 'a stop' })
    t.strictSame(atLeave, [true])
    t.matchStrict(refused, [{ message: 'a stop' }])
    t.equal(timers(), before, 'nobody looks any more')
  })

t.test('a look that ends after the kernel took its piece refuses nothing: what ends the connection is told',
  async (t) => {
    let isEntering = false
    let isUnderWay = false
    let arrived: () => void = () => undefined
    const whole = new Promise<void>((resolve) => { arrived = resolve })
    const body = Buffer.alloc(30_000_000)
    const server = await serve((_socket, _seen, _index, reset) => {
      // All of it is there, so the kernel took every piece; the look ends first, then this.
      arrived()
      setTimeout(reset, 50)
    })
    t.teardown(server.close)
    server.onConnection((socket) => {
      socket.pause()
      const waiting = setInterval(() => {
        if (!isUnderWay) return
        clearInterval(waiting)
        socket.resume()
      }, 5)
    })
    const fence = {
      take: async () => { isEntering = true }, note: () => undefined, give: () => undefined,
      look: async () => {
        const isWaiting = !isEntering && !isUnderWay
        isEntering = false
        if (!isWaiting) return
        isUnderWay = true
        await whole
        throw new Error('too late')
      },
    }
    t.hasStrict(await failureOf(client().request(
      ask(server.url, { body, requestBytesMax: body.length, fence }),
    )), { code: 'reset', contact: 'possible' })
    t.ok(isUnderWay)
  })

t.test('what is written beyond one request ends the connection', async (t) => {
  for (const extra of ['before', 'after'] as const) {
    const socket = new Duplex({ read: () => undefined, write: () => t.fail('it left') })
    const duplex = new CollectingDuplex(socket as TLSSocket)
    const collected = duplex.collect(2)
    collected.catch(() => undefined)
    duplex.write(`POST / HTTP/1.1\r\n\r\n${extra === 'before' ? 'abc' : 'ab'}`)
    if (extra === 'before') await t.rejects(collected,
      { message: 'more was written than the request' })
    else duplex.write('c')
    await systemClock.sleep(5)
    t.ok(duplex.destroyed && socket.destroyed, extra)
  }
})

t.test('a connection that is gone collects nothing, and says so at once', async (t) => {
  const socket = new Duplex({ read: () => undefined, write: () => t.fail('it left') })
  const duplex = new CollectingDuplex(socket as TLSSocket)
  duplex.destroy()
  const collected = duplex.collect(2).catch((error: Error) => error.message)
  t.equal(await Promise.race([collected, systemClock.sleep(20)]), 'the connection is gone')
})
