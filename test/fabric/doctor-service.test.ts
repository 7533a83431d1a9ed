/** What `doctor` says of the service: port, certificate, and the recipe of its socket. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceProblem, socketProblem, unitOf } from '../../src/fabric/unit-files.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

interface Checks {
  readonly checks: readonly { name: string; result: string; text: string }[]
}

const socket = (port: number): string =>
  `[Socket]\nListenStream=127.0.0.1:${port}\nListenStream=[::1]:${port}\nBindIPv6Only=ipv6-only\n`
const service = (program: string): string =>
  `[Service]\nExecStart=${program} serve\nKillMode=mixed\nTimeoutStopSec=150\n`

t.test('doctor tells port and certificate once the service was started, and a socket recipe that does not fit', async (t) => {
  const world = await World.in(t).state().session()
  const checks = async () => {
    const ran = await world.run(['doctor', '--json'])
    return (JSON.parse(ran.stdout) as Checks).checks.filter(({ name }) => /^service/.test(name))
  }
  t.strictSame(await checks(), [])
  const at = await serving(t, world)
  const { port } = at.started.identity
  t.matchStrict(await checks(), [
    {
      name: 'service process', result: 'ok',
      text: new RegExp(`^process ${process.pid} since \\S+ at https://127\\.0\\.0\\.1:${port}$`),
    },
    { name: 'service port', result: 'ok', text: `${port}, kept for good` },
    { name: 'service certificate', result: 'ok' },
  ])
  const env = world.place.env
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config')
  const folder = join(config, 'systemd', 'user')
  mkdirSync(folder, { recursive: true })
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o644)
  }
  const recipe = async () => (await checks()).slice(3)
  put('sallyport.socket', '[Socket]\nListenStream=0.0.0.0:8443\n')
  t.hasStrict(await recipe(), [
    { name: 'service socket', result: 'problem' }, { name: 'service unit', result: 'problem' },
  ], 'and nothing that it would start')
  put('sallyport.socket', socket(port))
  const program = world.place.write('sallyport', '#!/bin/sh\n')
  put('sallyport.service', service(program))
  t.matchStrict((await recipe())[1]?.text, /program that cannot be run/)
  chmodSync(program, 0o755)
  t.hasStrict(await recipe(), [
    { name: 'service socket', result: 'ok' }, { name: 'service unit', result: 'ok' },
  ])
  const ran = await world.run(['doctor'])
  t.match(ran.stdout, /sallyport\.service fits the service/)
  for (const name of ['sallyport.socket', 'sallyport.service']) {
    chmodSync(join(folder, name), 0o664)
    t.hasStrict((await recipe()).find(({ text }) => text.startsWith(name)), {
      result: 'problem', text: `${name} may be changed by others, who could run anything as you`,
    })
    chmodSync(join(folder, name), 0o600)
  }
  mkdirSync(join(folder, 'sallyport.service.d'))
  t.hasStrict((await recipe())[1], { result: 'note' }, 'what changes it is not judged')
})

t.test('a socket recipe fits on loopback alone, on the one port of both families, for one service', async (t) => {
  const wrongIn = (text: string, port = 1) => socketProblem(unitOf(text), port)
  const good = socket(1)
  t.equal(wrongIn(good), null)
  t.equal(wrongIn(`[Socket]\nListenStream=0.0.0.0:1\nListenStream=\n${good}`), null, 'taken back')
  t.equal(wrongIn(`${good}# ListenStream=0.0.0.0:1\n[X]\nListenStream=1\n`), null)
  for (const [more, why] of [
    ['ListenStream=0.0.0.0:1', /elsewhere/], ['ListenStream = 1', /elsewhere/],
    ['ListenDatagram=127.0.0.1:1', /elsewhere/], ['ListenStream=/run/x', /elsewhere/],
    ['ListenStream=127.0.0.1:2', /more than two/], ['Accept=yes', /each connection/],
    ['Accept=no\nAccept=true', /each connection/],
  ] as const) t.matchStrict(wrongIn(`${good}${more}\n`), why, more)
  t.matchStrict(wrongIn(good, 2), /port 2/)
  t.matchStrict(wrongIn('[Socket]\nListenStream=127.0.0.1:1\n'), /does not listen/)
  t.matchStrict(wrongIn('ListenStream=127.0.0.1:1\nListenStream=[::1]:1\n'), /does not listen/,
    'in no section')
})

t.test('a service recipe names one program by its whole path and leaves a stop its time', async (t) => {
  const wrongIn = (text: string) =>
    serviceProblem(unitOf(text), (path) => path === '/bin/x', '/')
  const good = service('/bin/x')
  for (const text of [
    good, good.replace('150', '2min 30s'), good.replace('150', 'infinity'),
    good.replace('serve', 'serve \\\n  --page'), good.replace('/bin/x', '-/bin/x'),
    good.replace('150', '0'), good.replace('/bin/x', '"/bin/x"'),
    good.replace('/bin/x', '%hbin/x'), good.replace('/bin/x', "'/bin/x'"),
    good.replace('TimeoutStopSec', 'TimeoutSec'), `${good}KillMode=control-group\nKillMode=mixed\n`,
  ]) t.equal(wrongIn(text), null, text)
  for (const [from, to, why] of [
    ['/bin/x', 'x', /absolute/], ['/bin/x', '/bin/y', /cannot be run/],
    ['serve', 'status', /serve/],
    ['ExecStart', 'ExecStop', /exactly one/], ['KillMode=mixed', 'KillMode=process', /mixed/],
    ['KillMode=mixed', '', /mixed/], ['150', '149', /150/], ['150', '2min', /150/],
    ['150', '150000ms x', /150/], ['TimeoutStopSec=150', '', /150/], ['[Service]', '[X]', /one/],
    ['KillMode', 'ExecStart=/bin/x serve\nKillMode', /exactly one/],
  ] as const) t.matchStrict(wrongIn(good.replace(from, to)), why, `${from} ${to}`)
})

t.test('the recipe that the documentation gives is one that doctor finds nothing wrong with', async (t) => {
  const text = readFileSync('docs/start-at-login.md', 'utf8')
  const block = (name: string): string =>
    new RegExp(`\\n\`\`\`\\n# ${name}\\n([^]*?)\`\`\`\\n`).exec(text)?.[1] ?? ''
  t.equal(socketProblem(unitOf(block('sallyport.socket')), 8443), null)
  t.equal(serviceProblem(unitOf(block('sallyport.service')), () => true, '/'), null)
})
