/** Where the service listens: loopback alone, whether it opens the sockets or is given them. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { codeOfWaited } from '../../support/refused.js'
import {
  closeServer, listenLoopback, passedDescriptors,
} from '../../../src/service/http/listen.js'
import type { Teardown } from '../../world/place.js'

const make = () => createHttp()

/** A listening socket whose descriptor can be passed on, as systemd does. */
const socketOn = (t: Teardown, host: string): Promise<{ server: Server; fd: number }> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host }, () => {
      const { _handle: handle } = server as unknown as { _handle: { fd: number } }
      t.teardown(() => void server.close())
      resolve({ server, fd: handle.fd })
    })
  })

t.test('both families have one port; a port that either family has not free is refused by name', async (t) => {
  const first = await listenLoopback(make, null)
  t.teardown(() => Promise.all(first.servers.map(closeServer)))
  const ports = first.servers.map((server) => (server.address() as { port: number }).port)
  t.strictSame(new Set(ports), new Set([first.port]))
  t.equal(await codeOfWaited(() => listenLoopback(make, first.port)), 'port_taken')
})

t.test('descriptors are taken only where they were passed to this very process', (t) => {
  t.strictSame(passedDescriptors({ LISTEN_FDS: '2', LISTEN_PID: '7' }, 7), [3, 4])
  t.strictSame(passedDescriptors({ LISTEN_FDS: '4', LISTEN_PID: '7' }, 7), [3, 4, 5, 6], 'all')
  for (const env of [
    {}, { LISTEN_FDS: '1' }, { LISTEN_FDS: '1', LISTEN_PID: '8' },
    { LISTEN_FDS: '0', LISTEN_PID: '7' }, { LISTEN_FDS: '1.5', LISTEN_PID: '7' },
    { LISTEN_FDS: 'x', LISTEN_PID: '7' }, { LISTEN_FDS: '-1', LISTEN_PID: '7' },
  ]) t.strictSame(passedDescriptors(env, 7), [])
  t.end()
})

/** What a process says that was given these listeners at descriptors 3 and 4. */
const passedTo = (fds: readonly number[]): string => {
  const module = new URL('../../../src/service/http/listen.js', import.meta.url).href
  const program = `
    import { createServer } from 'node:http'
    const { closeServer, listenPassed } = await import(${JSON.stringify(module)})
    const fds = ${JSON.stringify(fds.map((_, at) => at + 3))}
    const said = await listenPassed(() => createServer(), fds).then(
      async ({ port, servers }) => {
        await Promise.all(servers.map(closeServer))
        return String(port)
      },
      ({ code }) => code)
    process.stdout.write(said)
  `
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit', ...fds], encoding: 'utf8',
  })
  return ran.stdout
}

t.test('a passed socket that does not listen on loopback starts nothing', async (t) => {
  const good = await socketOn(t, '127.0.0.1')
  t.equal(passedTo([good.fd]), String((good.server.address() as { port: number }).port))
  const open = await socketOn(t, '0.0.0.0')
  t.equal(passedTo([open.fd]), 'socket_not_loopback')
  const [one, two] = [await socketOn(t, '127.0.0.1'), await socketOn(t, '127.0.0.1')]
  t.equal(passedTo([one.fd, two.fd]), 'socket_ports_differ')
  t.equal(passedTo([good.fd, open.fd]), 'socket_not_loopback', 'whichever it is')
  const file = openSync(fileURLToPath(import.meta.url), 'r')
  t.teardown(() => closeSync(file))
  t.equal(passedTo([file]), 'socket_not_loopback', 'no socket at all')
})
