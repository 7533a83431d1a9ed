/** Where the way in for machines elsewhere listens, and whom it lets go. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { fail } from '../../src/base/errors.js'
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
