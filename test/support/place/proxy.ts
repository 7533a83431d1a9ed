/** A way to a server on loopback that can be held (nothing is closed, nothing told) or cut. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Teardown } from '../../world/place.js'

/** What can happen to bytes on their way. */
export interface Proxy {
  readonly port: number
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
  /** Something happens while the n-th piece from now on is on its way; once. */
  atAsked(number: number, happens: () => void): void
  close(): void
}

interface Pair {
  readonly asking: Socket
  readonly answering: Socket
}

/** Starts one; `portOf` is asked for the server's port at each connection. */
export const startProxy = async (t: Teardown, portOf: () => number): Promise<Proxy> => {
  const pairs = new Set<Pair>()
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
  const apply = ({ asking, answering }: Pair): void => {
    asking.unpipe(answering)
    answering.unpipe(asking)
    if (held === 'all') asking.pause()
    else asking.pipe(answering)
    if (held === 'nothing') answering.pipe(asking)
    else answering.pause()
  }
  const server = createServer({ pauseOnConnect: true }, (asking) => {
    const answering = connect(portOf(), '127.0.0.1')
    const pair = { asking, answering }
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
    apply(pair)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const all = (how: typeof held): void => {
    held = how
    for (const pair of pairs) apply(pair)
  }
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    hold: () => all('all'),
    holdReplies: () => all('replies'),
    free: () => all('nothing'),
    asked: () => asked,
    atAsked(number, happens) {
      due = { at: asked + number, happens }
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
