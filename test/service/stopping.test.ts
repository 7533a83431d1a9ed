/** A stop of the service: nothing new is taken, what goes on comes to its end first. */
import { connect as tlsConnect } from 'node:tls'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { Service } from '../../src/service/service.js'
import { Threads } from '../../src/service/threads.js'
import { standInReply } from '../support/service/reply.js'
import { processWorld, serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { World } from '../world/world.js'

t.test('what is under way is answered, and nobody else gets in meanwhile', async (t) => {
  let release: () => void = () => undefined
  let asked = 0
  const waiting = new Promise<void>((resolve) => (release = resolve))
  const at = await serving(t, await World.in(t).state().session(), {
    endpoints: [{
      method: 'GET', path: '/slow',
      answer: async () => {
        asked += 1
        await waiting
        return { status: 200, body: { slow: true } }
      },
    }],
  })
  const { port, certificate } = at.started.identity
  const line = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
  let got = ''
  const socket = tlsConnect({ host: '127.0.0.1', port, ca: [certificate], servername: 'localhost' },
    () => socket.write(line('/slow')))
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await until('the slow one', () => asked === 1)
  let ended = false
  const stopped = at.stop().then(() => (ended = true))
  await t.rejects(at.ask('GET', '/healthz'), { code: 'ECONNREFUSED' }, 'no new connection')
  t.equal(ended, false)
  release()
  await stopped
  await closed
  t.match(got, /HTTP\/1\.1 200[\s\S]*"slow":true/)
  t.equal(asked, 1)
})

t.test('a request on a connection of before is refused by name once it stops', async (t) => {
  const world = await World.in(t).state()
  const { stateDir, configDir } = world.place
  const process = processWorld(world, new AbortController().signal)
  const start = { stateDir, configDir, home: '/', env: {}, execArgv: [] }
  const service = new Service({
    world: process, place: { stateDir, configDir }, threads: new Threads(start), endpoints: [],
  })
  await service.stop()
  const { response, written } = standInReply()
  const request = {
    method: 'GET', url: '/healthz', headers: { host: 'localhost:1' }, complete: true,
    rawHeaders: ['Host', 'localhost:1'],
  } as unknown as IncomingMessage
  await service.handle(request, response, { hosts: ['localhost:1'], scheme: 'https' })
  t.equal(written.status, 503)
  t.match(written.text, '"code":"service_stopping"')
})
