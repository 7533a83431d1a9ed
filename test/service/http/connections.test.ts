/** Connections of clients that send half of something, take nothing, or go on behind a refusal. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer, type IncomingMessage, type Server, type ServerResponse,
} from 'node:http'
import { connect as tcpConnect, type AddressInfo, type Socket } from 'node:net'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { attach, type Handle } from '../../../src/service/http/attach.js'
import { endTaken, roomIn, takenWithin } from '../../../src/service/http/send.js'
import { endAllConnections } from '../../../src/service/http/sockets.js'
import { image } from '../../support/png.js'
import { headOf, headText, pairOver, sendOver } from '../../support/service/devices.js'
import { serving, type Serving } from '../../support/service/serving.js'
import { movedClock } from '../../support/clock.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const dialled = async (t: Test, { started }: Serving): Promise<TLSSocket> => {
  const { port, certificate } = started.identity
  const options = {
    host: '127.0.0.1', port, ca: [certificate], servername: 'localhost', allowHalfOpen: true,
  }
  const socket = tlsConnect(options)
  t.teardown(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** All that comes until the other side has ended, or the connection has. */
const allOf = async (socket: Socket): Promise<Buffer> => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
  await new Promise<void>((resolve) => {
    socket.once('end', resolve).once('error', () => resolve()).once('close', () => resolve())
  })
  return Buffer.concat(chunks)
}

/** A picture of so many bytes: its beginning says that it is one. */
const large = (bytes: number): Buffer => Buffer.concat([image(1), Buffer.alloc(bytes, 7)])
const mebibyte = 1024 * 1024

t.test('a stop waits for no client that keeps its side open, whatever it has sent', async (t) => {
  const at = await serving(t, await World.in(t).state().session())
  const { port } = at.started.identity
  const silent = tcpConnect({ host: '127.0.0.1', port, allowHalfOpen: true })
  t.teardown(() => void silent.destroy())
  const kept = await Promise.all(['', 'GET /hea', 'no request at all\r\n\r\n'].map(async (text) => {
    const socket = await dialled(t, at)
    socket.write(text)
    return socket
  }))
  const [, , refused] = kept
  t.match((await allOf(refused as TLSSocket)).toString(), /"code":"http_malformed"/)
  // Its own side is still open; whoever goes on sending finds nobody there after a while.
  refused?.on('error', () => undefined)
  await until('the end of a connection that was refused', () => {
    if (refused?.destroyed === false) refused.write('x')
    return refused?.destroyed === true
  })
  await at.stop()
  await t.rejects(at.ask('GET', '/healthz'), { code: 'ECONNREFUSED' }, 'it has stopped')
})

t.test('what cannot be read behind a request neither goes before its reply nor into it', async (t) => {
  const world = await World.in(t).state().session()
  let release: () => void = () => undefined
  const waiting = new Promise<void>((resolve) => (release = resolve))
  let asked = 0
  const at = await serving(t, world, {
    endpoints: [{
      method: 'GET', path: '/slow', answer: async () => {
        asked += 1
        await waiting
        return { status: 200, body: { slow: true } }
      },
    }],
  })
  const { port } = at.started.identity
  const socket = await dialled(t, at)
  socket.write(`GET /slow HTTP/1.1\r\nHost: localhost:${port}\r\n\r\nno request\r\n\r\n`)
  await until('the slow one', () => asked === 1)
  release()
  const got = (await allOf(socket)).toString()
  t.match(got, /^HTTP\/1\.1 200 [\s\S]*"slow":true\}\n$/, 'one reply, which is its own')

  const { credential } = await pairOver(world, at)
  const body = large(12 * mebibyte)
  const sent = await sendOver(at, credential, body, headOf(body, 1))
  const path = `/api/edge/artifacts/${String(sent.json().artifact_id)}/bytes`
  const reader = await dialled(t, at)
  reader.write([
    `GET ${path} HTTP/1.1`, `Host: localhost:${port}`, `Authorization: Bearer ${credential}`,
    '', '',
  ].join('\r\n'))
  const chunks: Buffer[] = []
  reader.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(reader, 'data')
  reader.pause()
  reader.write('no request\r\n\r\n')
  await at.ask('GET', '/healthz')
  reader.resume()
  await once(reader, 'end')
  const whole = Buffer.concat(chunks)
  t.ok(whole.subarray(whole.indexOf('\r\n\r\n') + 4).equals(body), 'byte for byte')
})

t.test('S-196 whoever is refused before the body was read can read why, however large it is', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const body = large(16 * mebibyte)
  const { credential } = await pairOver(world, at)
  const head = headOf(body, 1)
  t.equal((await sendOver(at, credential, body, head)).status, 201)
  for (const [token, status] of [[`spe_${'A'.repeat(43)}`, 401], [credential, 200]] as const) {
    for (let round = 0; round < 3; round += 1) {
      const socket = await dialled(t, at)
      const all = allOf(socket)
      socket.write([
        'POST /api/edge/artifacts HTTP/1.1', `Host: localhost:${at.started.identity.port}`,
        `Authorization: Bearer ${token}`, 'Content-Type: image/png',
        `Sallyport-Edge-Upload: ${headText(head)}`, `Content-Length: ${body.length}`, '', '',
      ].join('\r\n'))
      // One that sends first and reads afterwards, as most clients do.
      await new Promise<void>((resolve) => void socket.write(body, () => resolve()))
      t.match((await all).toString(), new RegExp(`^HTTP/1\\.1 ${status} `))
    }
  }
})

/** One reply of a plain server of Node's, and a client that takes nothing of it. */
const untaken = async (
  t: Test, answer: (response: ServerResponse) => Promise<void> | void,
): Promise<Socket> => {
  const server = createServer((_: IncomingMessage, response) => void answer(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = tcpConnect({ host: '127.0.0.1', port })
  client.on('error', () => undefined)
  client.pause()
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return client
}

t.test('a reply that nobody takes ends with its connection', async (t) => {
  const whole = 32 * mebibyte
  let given = false
  const client = await untaken(t, (response) => {
    response.once('close', () => (given = true))
    endTaken(response, Buffer.alloc(whole), 20)
  })
  await until('the end of it', () => given)
  t.ok((await allOf(client)).length < whole, 'given up, not taken')
  const leftMs = takenWithin({ clock: systemClock, stop: new AbortController().signal }, 20)
  const refused = await new Promise<unknown>((resolve) => void untaken(t, async (response) => {
    try {
      for (;;) {
        if (!response.write(Buffer.alloc(mebibyte))) await roomIn(response, leftMs, 5)
      }
    } catch (error) {
      resolve(error)
      response.destroy()
    }
  }))
  t.match(String(refused), /takes no more/)
})

t.test('a reply is taken whole by one deadline, however steadily a slow client reads on', async (t) => {
  const clock = movedClock()
  const leftMs = takenWithin({ clock, stop: new AbortController().signal }, 110_000)
  let rounds = 0
  const refused = new Promise<unknown>((resolve) => void untaken(t, async (response) => {
    try {
      for (; rounds < 40; rounds += 1) {
        if (!response.write(Buffer.alloc(mebibyte))) await roomIn(response, leftMs, 5)
        // So long it took the client to take this piece.
        clock.advance(30_000)
      }
      resolve(null)
    } catch (error) {
      resolve(error)
    }
    response.destroy()
  }).then((client) => client.resume()))
  t.match(String(await refused), /takes no more/)
  t.equal(rounds, 4, 'four pieces of 30 s are 120 s')
})

t.test('a stop leaves a reply that is only being taken two seconds, however often it is asked', (t) => {
  const clock = movedClock()
  const stopping = new AbortController()
  const leftMs = takenWithin({ clock, stop: stopping.signal }, 110_000)
  t.ok(leftMs() > 100_000)
  stopping.abort()
  t.ok(leftMs() <= 2_000 && leftMs() > 0)
  clock.advance(1_000)
  t.ok(leftMs() <= 1_000 && leftMs() > 0)
  clock.advance(1_000)
  t.ok(leftMs() <= 0)
  t.end()
})

t.test('a stop of the service ends a capture that nobody takes', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { credential } = await pairOver(world, at)
  const body = large(16 * mebibyte)
  const sent = await sendOver(at, credential, body, headOf(body, 1))
  t.equal(sent.status, 201)
  const reader = await dialled(t, at)
  reader.on('error', () => undefined)
  reader.write([
    `GET /api/edge/artifacts/${String(sent.json().artifact_id)}/bytes HTTP/1.1`,
    `Host: localhost:${at.started.identity.port}`, `Authorization: Bearer ${credential}`, '', '',
  ].join('\r\n'))
  const [first] = await once(reader, 'data') as [Buffer]
  reader.pause()
  t.match(first.toString('latin1'), /^HTTP\/1\.1 200 /)
  await at.stop()
  t.ok((await allOf(reader)).length < 16 * mebibyte)
})

t.test('requests of one connection that wait for each other are a few, not as many as somebody likes', async (t) => {
  const at = await serving(t, await World.in(t).state())
  const { port } = at.started.identity
  const line = `GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
  const few = await dialled(t, at)
  few.write(line.repeat(7) + line.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  t.equal((await allOf(few)).toString().split('HTTP/1.1 200 OK').length - 1, 8)
  const many = await dialled(t, at)
  many.write(line.repeat(2_000))
  t.ok((await allOf(many)).toString().split('HTTP/1.1 200 OK').length - 1 < 2_000)
  t.equal((await at.ask('GET', '/healthz', { token: null })).status, 200)
})

/** A plain server of Node's with nothing of its own that would end a connection. */
const attached = async (t: Test, handle: Handle): Promise<Server> => {
  const server = createServer({ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 })
  attach(server, handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    endAllConnections(server)
    server.close()
  })
  return server
}

const clientOf = (t: Test, server: Server): Socket => {
  const { port } = server.address() as AddressInfo
  const client = tcpConnect({ host: '127.0.0.1', port, allowHalfOpen: true })
  client.on('error', () => undefined)
  t.teardown(() => void client.destroy())
  return client
}

t.test('each listener takes 512 connections, whatever another one has', async (t) => {
  const servers = [await attached(t, () => undefined), await attached(t, () => undefined)]
  t.strictSame(servers.map(({ maxConnections }) => maxConnections), [512, 512])
  t.match(readFileSync('docs/service.md', 'utf8'), /Each listener takes at most 512 connections/)
})

t.test('a refused connection whose client says nothing more and keeps it open is ended', async (t) => {
  const server = await attached(t, () => undefined)
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = clientOf(t, server)
  client.write('no request\r\n\r\n')
  t.match((await allOf(client)).toString(), /"code":"http_malformed"/)
  const [socket] = await accepted
  await until('its end', () => socket.destroyed)
  t.equal(client.writableEnded, false, 'the client’s own side was open')
})

t.test('a connection that asks on and on without a reply is ended behind 32 requests', async (t) => {
  let asked = 0
  const server = await attached(t, () => (asked += 1))
  const client = clientOf(t, server)
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(33))
  await allOf(client)
  t.equal(asked, 32)
})

t.test('a connection whose requests are answered may ask more than 32', async (t) => {
  const server = await attached(t, (_, response) => void response.end('ok'))
  const client = clientOf(t, server)
  let got = ''
  client.on('data', (chunk: Buffer) => (got += chunk.toString()))
  for (let round = 1; round <= 100; round += 1) {
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('a reply', () => got.split('HTTP/1.1 200 OK').length - 1 === round)
  }
  t.equal(client.destroyed, false)
})
