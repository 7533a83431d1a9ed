/** What `doctor` says of the service: port, certificate, and the recipe of its socket. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { socketProblem } from '../../src/fabric/doctor-service.js'
import { serving } from '../support/service/serving.js'
import { World } from '../world/world.js'

interface Checks {
  readonly checks: readonly { name: string; result: string; text: string }[]
}

t.test('doctor tells port and certificate once the service was started, and a socket recipe that does not fit', async (t) => {
  const world = await World.in(t).state().session()
  const checks = async () => {
    const ran = await world.run(['doctor', '--json'])
    return (JSON.parse(ran.stdout) as Checks).checks.filter(({ name }) => /^service/.test(name))
  }
  t.strictSame(await checks(), [])
  const at = await serving(t, world)
  const { port } = at.started.identity
  t.hasStrict(await checks(), [
    { name: 'service port', result: 'ok', text: `${port}, kept for good` },
    { name: 'service certificate', result: 'ok' },
  ])
  const env = world.place.env
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config')
  const folder = join(config, 'systemd', 'user')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'sallyport.socket'), '[Socket]\nListenStream=0.0.0.0:8443\n')
  t.hasStrict((await checks())[2], { name: 'service socket', result: 'problem' })
  writeFileSync(join(folder, 'sallyport.socket'),
    `[Socket]\nListenStream=127.0.0.1:${port}\nListenStream=[::1]:${port}\n`)
  t.hasStrict((await checks())[2], { name: 'service socket', result: 'ok' })
})

t.test('a socket recipe fits on loopback alone, on the one port of both families', async (t) => {
  t.equal(socketProblem('ListenStream=127.0.0.1:1\nListenStream=[::1]:1\n', 1), null)
  t.match(socketProblem('ListenStream=127.0.0.1:1\nListenStream=[::1]:2\n', 1), /does not listen/)
  t.match(socketProblem('ListenStream=127.0.0.1:1\n', 1), /does not listen/)
  t.match(socketProblem('ListenStream=1\n', 1), /loopback/)
})
