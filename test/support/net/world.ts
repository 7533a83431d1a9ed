/** Real TLS servers on loopback that record what reaches them, and clients that trust them. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { TLSSocket, TlsOptions } from 'node:tls'
import { systemClock } from '../../../src/base/clock.js'
import { createHttpsClient } from '../../../src/net/client.js'
import type { SessionClient } from '../../../src/net/client.js'
import { contactOf } from '../../../src/net/contact-error.js'
import type { AuthorityPoint, HttpsClientDeps, HttpsRequest } from '../../../src/net/types.js'
import { newAuthority } from './certs.js'
import type { Pair } from './certs.js'
import { patienceMs } from '../speed.js'
import { until } from '../until.js'

/** The name that every test server answers to; the resolver of the tests sends it to loopback. */
export const name = 'provider.test'

const authority = await newAuthority()
const pair = await authority.issue([name, '127.0.0.1', 'localhost'])

/** What every test trusts and serves. */
export const trusted = { authority, ca: authority.ca, pair }

/** One request as it came over the wire. */
export interface Seen {
  readonly head: string
  readonly body: Buffer
}

/** A server that records. */
export interface TestServer {
  readonly port: number
  readonly url: string
  /** TCP connections accepted. */
  connections(): number
  /** TLS handshakes finished. */
  handshakes(): number
  /** Decrypted bytes received. */
  applicationBytes(): number
  readonly requests: Seen[]
  /** Server names that clients asked for. */
  readonly serverNames: (string | false)[]
  /** Hands over every connection whose handshake is finished. */
  onConnection(take: (socket: TLSSocket) => void): void
  close(): void
}

/** What a server does with a request that it has read. */
export type Answer = (socket: TLSSocket, seen: Seen, index: number, reset: () => void) => void

/** A whole reply: head lines and body, the length added. */
export const reply = (head: string, body: string | Buffer = '{"ok":true}'): Buffer => {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`${head}\r\ncontent-length: ${bytes.length}\r\n\r\n`), bytes])
}

/** Reads requests off one connection and hands each to the answer. */
const readRequests = (socket: TLSSocket, take: (seen: Seen) => void): void => {
  let held = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (;;) {
      const end = held.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = held.subarray(0, end).toString('latin1')
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      if (held.length < end + 4 + length) return
      const body = held.subarray(end + 4, end + 4 + length)
      held = held.subarray(end + 4 + length)
      take({ head, body })
    }
  })
}

/** Starts a recording server; the test closes it. */
export const serve = async (
  answer: Answer,
  options: TlsOptions = {},
  certificate: Pair = pair,
): Promise<TestServer> => {
  const counts = { connections: 0, handshakes: 0, bytes: 0 }
  const requests: Seen[] = []
  const serverNames: (string | false)[] = []
  const open = new Set<Socket>()
  // A reset belongs to the TCP socket below the TLS one.
  const resetOf = (socket: TLSSocket): void => {
    for (const raw of open) if (raw.remotePort === socket.remotePort) raw.resetAndDestroy()
  }
  const server = createServer({ ...certificate, ...options }, (socket) => {
    counts.handshakes += 1
    serverNames.push((socket as TLSSocket & { servername: string | false }).servername)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => (counts.bytes += chunk.length))
    readRequests(socket, (seen) => {
      requests.push(seen)
      answer(socket, seen, requests.length - 1, () => resetOf(socket))
    })
  })
  server.on('connection', (socket: Socket) => {
    counts.connections += 1
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  // A test that fails before it closes its server must still end.
  server.unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `https://${name}:${port}/v1/x`,
    connections: () => counts.connections,
    handshakes: () => counts.handshakes,
    applicationBytes: () => counts.bytes,
    requests,
    serverNames,
    onConnection: (take) => void server.on('secureConnection', take),
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

/** A client that trusts the test authority and finds every name on loopback. */
export const client = (deps: Partial<HttpsClientDeps> = {}): SessionClient =>
  createHttpsClient({
    clock: systemClock,
    env: {},
    execArgv: [],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: [trusted.ca],
    loopbackOnly: true,
    ...deps,
  })

/** A request whose authority always agrees. */
export const ask = (url: string, over: Partial<HttpsRequest> = {}): HttpsRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  ...(over.method === 'GET' ? {} : { body: Buffer.from('{"q":1}') }),
  requestBytesMax: 65_536,
  replyBytesMax: 262_144,
  timeoutMs: patienceMs(),
  authority: () => undefined,
  markContact: () => undefined,
  ...over,
})

const turn = (): Promise<void> => new Promise((done) => { setImmediate(done) })

/** What the kernel of loopback took, this process reads in one of its next turns. */
export const readByAll = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await turn()
}

/** A server whose last connection can be made to say what nobody asked for. */
export const planting = async () => {
  const server = await serve((socket, _seen, index) =>
    void socket.write(reply(`HTTP/1.1 200 OK\r\nx-answer: ${index}`)))
  const up: TLSSocket[] = []
  server.onConnection((socket) => {
    socket.setNoDelay(true)
    up.push(socket)
  })
  const plant = async (nth: number): Promise<void> => {
    await until('the connection is up there', () => up.length >= nth)
    const planted = reply('HTTP/1.1 200 OK\r\nx-answer: planted')
    await new Promise((done) => up.at(-1)?.write(planted, done))
    await readByAll()
  }
  return { server, plant }
}

/** Counts the connections of a server that are up, and of those the ones that closed since. */
export const closingsOf = (server: TestServer) => {
  let closed = 0
  server.onConnection((socket) => socket.on('close', () => { closed += 1 }))
  return (count: number): Promise<void> =>
    until(`${count} connections are closed there`, () => closed === count)
}

/** Records the order of everything the client asks its caller. */
export const recorder = (refuseAt?: AuthorityPoint | 'mark') => {
  const steps: string[] = []
  const refusal = new Error('withdrawn')
  return {
    steps,
    refusal,
    hooks: {
      authority: (point: AuthorityPoint) => {
        steps.push(point)
        if (point === refuseAt) throw refusal
      },
      markContact: () => {
        steps.push('mark')
        if (refuseAt === 'mark') throw refusal
      },
    },
  }
}

/** How a request failed: its code and its proof. Fails loudly when it did not. */
export const failureOf = async (
  work: Promise<unknown>,
): Promise<{ code: string; contact: string; kind: string; error: Error }> => {
  try {
    await work
  } catch (error) {
    const { code, kind } = error as { code: string; kind: string }
    return { code, kind, contact: contactOf(error), error: error as Error }
  }
  throw new Error('the request succeeded')
}
