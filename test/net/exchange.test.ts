/** Whoever cancels, or whose time is over, is told so, and what has not left stays here. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { Attempt } from '../../src/net/attempt.js'
import { dial, trustRoots } from '../../src/net/dial.js'
import type { WireFence } from '../../src/net/types.js'
import { movedClock } from '../support/clock.js'
import {
  ask, client, failureOf, name, readByAll, reply, serve, trusted,
} from '../support/net/world.js'
import { until } from '../support/until.js'

const ok = 'HTTP/1.1 200 OK'
const large = Buffer.alloc(1_000_000)
const get = { method: 'GET' } as const

/** A fence that holds nobody off, but for what the test says. */
const fenceOf = (own: Partial<WireFence>): WireFence => ({
  take: async () => undefined, look: async () => undefined, note: () => undefined,
  give: () => undefined, ...own,
})

/** Waits for its turn until somebody ends the wait, and says so in its own words. */
const untilAborted = (signal: AbortSignal): Promise<void> => new Promise((_resolve, reject) => {
  signal.addEventListener('abort', () => reject(new Error('the wait has ended')), { once: true })
})

t.test('whoever has cancelled dials nobody', async (t) => {
  const server = await serve(() => undefined)
  t.teardown(server.close)
  const stop = new AbortController()
  const attempt = new Attempt(systemClock, name, 1_000, stop.signal)
  t.teardown(() => attempt.end())
  stop.abort()
  const target = { url: new URL(server.url), host: name, port: server.port }
  const address = { address: '127.0.0.1', family: 4 } as const
  const ended = new Promise<unknown>((resolve) => {
    // From the loop itself: what was dialled is under way before anything else runs.
    setImmediate(() => dial(attempt, target, [address], trustRoots([trusted.ca])).catch(resolve))
  })
  t.hasStrict(await ended, { code: 'cancelled', contact: 'none' })
  await readByAll()
  t.equal(server.connections(), 0)
})

t.test('a cancel while the request is being written is told as one, and nothing leaves', async (t) => {
  const server = await serve((socket) => void socket.write(reply(ok)))
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  await session.request(ask(server.url, get))
  await turn()
  const before = server.applicationBytes()
  const stop = new AbortController()
  // Behind the mark, and before Node writes the request.
  const markContact = (): void => process.nextTick(() => stop.abort())
  const points: string[] = []
  const authority = (point: string): void => void points.push(point)
  const request = ask(server.url, { ...get, markContact, authority, signal: stop.signal })
  t.hasStrict(await failureOf(session.request(request)), { code: 'cancelled', contact: 'none' })
  t.strictSame(points, ['before_resolve', 'before_dial'])
  await readByAll()
  t.strictSame([server.connections(), server.applicationBytes()], [1, before])
})

t.test('a cancel while the first piece waits for its turn is told as one, and nothing leaves', async (t) => {
  const server = await serve(() => undefined)
  t.teardown(server.close)
  const stop = new AbortController()
  const take = (_first: boolean, signal: AbortSignal): Promise<void> => {
    setImmediate(() => stop.abort())
    return untilAborted(signal)
  }
  const request = ask(server.url, { fence: fenceOf({ take }), signal: stop.signal })
  t.hasStrict(await failureOf(client().request(request)), { code: 'cancelled', contact: 'none' })
  await readByAll()
  t.equal(server.applicationBytes(), 0)
})

t.test('a cancel while a later piece waits for its turn is told as one, with contact possible', async (t) => {
  const server = await serve(() => undefined)
  t.teardown(server.close)
  const stop = new AbortController()
  const take = (first: boolean, signal: AbortSignal): Promise<void> => {
    if (first) return Promise.resolve()
    setImmediate(() => stop.abort())
    return untilAborted(signal)
  }
  const fence = fenceOf({ take })
  const request = ask(server.url, {
    body: large, requestBytesMax: large.length, fence, signal: stop.signal,
  })
  t.hasStrict(await failureOf(client().request(request)),
    { code: 'cancelled', contact: 'possible' })
  await readByAll()
  t.ok(server.applicationBytes() < large.length, 'the rest never left')
})

t.test('a piece whose turn comes when the time is over does not leave', async (t) => {
  const server = await serve((socket) => socket.end(reply(ok)))
  t.teardown(server.close)
  const clock = movedClock()
  let taken = 0
  const take = async (first: boolean): Promise<void> => {
    taken += 1
    if (first) return
    await until('the first piece is there', () => server.applicationBytes() > 0)
    clock.advance(120_000)
  }
  const request = ask(server.url, {
    body: large, requestBytesMax: large.length, timeoutMs: 120_000, fence: fenceOf({ take }),
  })
  t.hasStrict(await failureOf(client({ clock }).request(request)),
    { code: 'timeout', contact: 'possible' })
  await readByAll()
  t.equal(taken, 2)
  t.equal(server.applicationBytes(), 65_536)
})
