/**
 * A way to a server on loopback that can be held (nothing is closed, nothing told), cut or made
 * long; it counts the trips.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import type { Teardown } from '../../world/place.js'

/** What can happen to bytes on their way. */
export interface Proxy {
  readonly port: number
  /** How often somebody waited for an answer, beside the kernel's handshake, since it began. */
  trips(): number
  /** From now on no byte goes on, in either direction, also of connections that come. */
  hold(): void
  /** What is asked arrives; no answer comes back. */
  holdReplies(): void
  /** What was held goes on. */
  free(): void
  /** Both sides of every connection are reset. */
  cut(): void
  /** Pieces that programs have sent until now: a question each, and few for a long one. */
  asked(): number
  /** Something happens while the n-th piece from now on is on its way; once, until it is undone. */
  atAsked(number: number, happens: () => void): () => void
  close(): void
}

interface Pair {
  readonly asking: Socket
  readonly answering: Socket
  /** Bytes on their way to the server, and back. */
  readonly there: Transform
  readonly back: Transform
}

/** How a message says that a connection ends (PostgreSQL, Terminate); nobody waits behind it. */
const ending = Buffer.from([0x58, 0, 0, 0, 4])

/** Bytes arrive so much later, in order; `passed` sees each piece as it sets out. */
const way = (delayMs: number, passed: (piece: Buffer) => void): Transform => {
  const later = (fn: () => void): void => {
    if (delayMs === 0) fn()
    else setTimeout(fn, delayMs)
  }
  const line = new Transform({
    transform(piece: Buffer, _encoding, done) {
      passed(piece)
      later(() => line.push(piece))
      done()
    },
    flush: (done) => later(done),
  })
  return line.on('error', () => undefined)
}

/** Counts where somebody begins to wait. */
class Trips {
  count = 0

  /** Two ends of one connection. */
  ends(): { asked(piece: Buffer): void; answered(): void } {
    let isAnswered = true
    return {
      asked: (piece) => {
        if (isAnswered && !piece.equals(ending)) this.count += 1
        isAnswered = false
      },
      answered: () => { isAnswered = true },
    }
  }
}

/** How a proxy is made. */
interface ProxyOptions {
  /** How long bytes are under way, each way, ms. */
  readonly delayMs?: number
}

/** Starts one; `portOf` is asked for the server's port at each connection. */
export const startProxy = async (
  t: Teardown, portOf: () => number, { delayMs = 0 }: ProxyOptions = {},
): Promise<Proxy> => {
  const pairs = new Set<Pair>()
  const trips = new Trips()
  let held: 'nothing' | 'replies' | 'all' = 'nothing'
  let asked = 0
  let due: { readonly at: number, readonly happens: () => void } | null = null
  const count = (): void => {
    asked += 1
    if (due === null || asked < due.at) return
    const { happens } = due
    due = null
    happens()
  }
  const apply = ({ asking, answering, there, back }: Pair): void => {
    asking.unpipe(there)
    answering.unpipe(back)
    if (held === 'all') asking.pause()
    else asking.pipe(there)
    if (held === 'nothing') answering.pipe(back)
    else answering.pause()
  }
  const server = createServer({ pauseOnConnect: true }, (asking) => {
    const answering = connect(portOf(), '127.0.0.1')
    const ends = trips.ends()
    const there = way(delayMs, ends.asked)
    const pair = { asking, answering, there, back: way(delayMs, ends.answered) }
    pair.there.pipe(answering)
    pair.back.pipe(asking)
    pairs.add(pair)
    asking.on('data', count)
    for (const socket of [asking, answering]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        pairs.delete(pair)
        // What is held does not tell either side that the other one is gone.
        if (held !== 'nothing') return
        asking.destroy()
        answering.destroy()
      })
    }
    // The kernel answered the handshake at once: it takes as long as any other trip.
    if (delayMs === 0) apply(pair)
    else setTimeout(() => apply(pair), 2 * delayMs)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const all = (how: typeof held): void => {
    held = how
    for (const pair of pairs) apply(pair)
  }
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    trips: () => trips.count,
    hold: () => all('all'),
    holdReplies: () => all('replies'),
    free: () => all('nothing'),
    asked: () => asked,
    atAsked(number, happens) {
      due = { at: asked + number, happens }
      return () => { due = null }
    },
    cut() {
      for (const { asking, answering } of pairs) {
        asking.resetAndDestroy()
        answering.resetAndDestroy()
      }
    },
    close() {
      for (const { asking, answering } of pairs) {
        asking.destroy()
        answering.destroy()
      }
      server.close()
    },
  }
  t.teardown(() => proxy.close())
  return proxy
}
