/** The line of the page for devices of other machines that a device types: ssh to this one. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { must } from '../support/must.js'
import { pictureOf } from '../support/edge/device.js'
import { openBridge } from '../support/service/bridge.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'

/** Where systems keep it; on no path of a user. */
const sshd = '/usr/sbin/sshd'
const lacks = !existsSync(sshd) || !existsSync('/run/sshd')

const listens = (port: number): Promise<boolean> => new Promise((resolve) => {
  const socket = connect({ host: '127.0.0.1', port })
    .on('connect', () => { socket.destroy(); resolve(true) }).on('error', () => resolve(false))
})

/** A server of ssh on loopback that lets this user in by one key and leads connections on. */
const startSshd = async (t: Parameters<typeof World.in>[0], place: Place): Promise<{
  readonly port: number; readonly flags: readonly string[]
}> => {
  const { port } = await openBridge(t, { held: false })
  for (const key of ['host', 'user']) {
    const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', place.path(key)])
    if (made.status !== 0) throw new Error(made.stderr.toString())
  }
  place.write('authorized', readFileSync(place.path('user.pub')))
  chmodSync(place.path('authorized'), 0o600)
  const config = place.write('sshd_config', [
    `Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${place.path('host')}`, 'PidFile none',
    `AuthorizedKeysFile ${place.path('authorized')}`, 'PasswordAuthentication no', 'UsePAM no',
    'StrictModes no', 'AllowTcpForwarding local', '',
  ].join('\n'))
  const server = spawn(sshd, ['-D', '-e', '-f', config], { stdio: 'ignore' })
  t.teardown(async () => {
    if (server.exitCode !== null) return
    server.kill()
    await once(server, 'exit')
  })
  await until('sshd to listen', () => listens(port))
  place.write('known', `[127.0.0.1]:${port} ${readFileSync(place.path('host.pub'), 'utf8')}`)
  return { port, flags: [
    '-F', 'none', '-p', String(port), '-i', place.path('user'), '-o', 'IdentitiesOnly=yes',
    '-o', `UserKnownHostsFile=${place.path('known')}`, '-o', 'ExitOnForwardFailure=yes',
    '-o', 'BatchMode=yes',
  ] }
}

t.test('S-027 S-197 a device that leads its own port here by ssh is paired and sends', {
  skip: lacks ? 'needs sshd and its folder /run/sshd' : false,
}, async (t) => {
  const world = await World.in(t).state().session()
  const { port } = await openBridge(t, { held: false })
  const at = await serving(t, world, { public: `localhost:${port}` })
  const to = at.started.identity.public?.forward_to ?? ''
  const { flags } = await startSshd(t, world.place)
  const page = readFileSync('docs/how-to/devices-elsewhere.md', 'utf8')
  const line = /^ssh (-N -L) "8443:\$TO" desk\.example$/m.exec(page)?.[1] ?? ''
  const words = [...line.split(' '), `${port}:${to}`, ...flags, `${userInfo().username}@127.0.0.1`]
  const client = spawn('ssh', words, { stdio: 'ignore' })
  t.teardown(() => void client.kill())
  await until('the way by ssh', () => listens(port))
  const device = world.place
  must(await world.run(['edge', 'pair', '--file', device.path('pairing.txt')]))
  must(await world.run(['edge', 'capture', device.write('shot.png', pictureOf(1))]))
  must(await world.run(['edge', 'daemon', '--once', '--pair-file', device.path('pairing.txt')]))
  const [one] = await device.json(['edge', 'list'])
  t.equal(one.stored.items, 1)
})
