/** Where the way in for machines elsewhere listens, and whom it lets go. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { fail } from '../../src/base/errors.js'
import { holdService, runningService } from '../../src/governance/service/running.js'
import { listenElsewhere } from '../../src/service/elsewhere.js'
import { closeServer, listenLoopback, type AnyServer } from '../../src/service/http/listen.js'
import { Newcomers } from '../../src/service/http/newcomers.js'
import { until } from '../support/until.js'

const place = 'Desk.Example:8443'

t.test('another port is taken where somebody else has that of before, and for no other reason', async (t) => {
  const squatter = await listenLoopback(() => createServer(), null)
  t.teardown(() => Promise.all(squatter.servers.map(closeServer)))
  const before = { place, port: squatter.port }
  const { servers, row, portChanged } = await listenElsewhere(
    () => () => createServer(), place, before)
  t.teardown(() => Promise.all(servers.map(closeServer)))
  t.not(row?.port, squatter.port)
  t.strictSame([row?.place, portChanged], ['desk.example:8443', true])
  for (const error of [new Error('no socket'), fail.rejected('socket_not_loopback', 'No.')]) {
    let made = 0
    const make = (): AnyServer => {
      made += 1
      if (made === 1) throw error
      return createServer()
    }
    await t.rejects(listenElsewhere(() => make, place, before), error)
    t.equal(made, 1)
  }
})

t.test('what an earlier program says of a service that runs is read, and tells of no such place', async (t) => {
  const dir = t.testdir({ run: {} })
  const since = '2026-11-20T12:00:00.000Z'
  const held = await holdService(dir, since)
  t.teardown(() => held.release())
  held.listensAt('https://127.0.0.1:1', 'https://desk.example:8443')
  t.equal(runningService(dir)?.public, 'https://desk.example:8443')
  const said = { pid: 7, since, origin: 'https://127.0.0.1:1' }
  writeFileSync(join(dir, 'run', 'service'), JSON.stringify(said))
  t.strictSame(runningService(dir), { ...said, public: null })
})

t.test('of connections that show no credential the oldest one ends where there are too many; one that has shown one stays', async (t) => {
  const newcomers = new Newcomers(2)
  const server = newcomers.watch(createServer())
  const seen: Socket[] = []
  server.on('connection', (socket: Socket) => void seen.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => closeServer(server))
  const come = async (): Promise<Socket> => {
    const count = seen.length
    const { port } = server.address() as { port: number }
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined).resume()
    t.teardown(() => void socket.destroy())
    await until('the connection to come', () => seen.length > count)
    return socket
  }
  const [known, second, third] = [await come(), await come(), await come()]
  t.ok(known !== undefined && second !== undefined && third !== undefined)
  await until('the oldest to go', () => known.closed)
  newcomers.knows(seen[1] as Socket)
  const fourth = await come()
  const fifth = await come()
  await until('the oldest newcomer to go', () => third.closed)
  t.strictSame([second.closed, fourth.closed, fifth.closed], [false, false, false])
  fourth.destroy()
  await until('it to be gone', () => seen[3]?.closed === true)
  const sixth = await come()
  t.strictSame([fifth.closed, sixth.closed], [false, false], 'who has gone is not counted')
})
