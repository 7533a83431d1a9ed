import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { carriedBy, carriedByService } from '../../src/cli/places.js'
import { scanGlobals } from '../../src/cli/globals.js'
import { World } from '../world/world.js'

t.test('the state directory: flag before variable before XDG before home', async (t) => {
  const place = World.in(t).place
  const where = async (argv: string[], env: Record<string, string | undefined>): Promise<string> =>
    (await place.run(['state', 'path', ...argv], { env })).stdout.trimEnd()
  const none = { SALLYPORT_STATE_DIR: undefined, XDG_STATE_HOME: undefined }
  const home = place.env['HOME'] as string
  t.equal(await where([], none), join(home, '.local/state/sallyport'))
  t.equal(await where([], { ...none, XDG_STATE_HOME: '/x' }), '/x/sallyport')
  const fallback = join(home, '.local/state/sallyport')
  t.equal(await where([], { ...none, XDG_STATE_HOME: 'rel' }), fallback)
  t.equal(await where([], { XDG_STATE_HOME: '/x', SALLYPORT_STATE_DIR: '/y' }), '/y')
  t.equal(await where(['--state-dir', '/z'], { SALLYPORT_STATE_DIR: '/y' }), '/z')
  t.equal(await where(['--state-dir', 'rel'], {}), place.path('rel'))
  t.equal(await where([], { ...none, SALLYPORT_STATE_DIR: '' }), fallback)
})

t.test('the key folder is decided the same way and never lies inside the state', async (t) => {
  const place = World.in(t).place
  const config = async (env: Record<string, string | undefined>): Promise<string> =>
    (await place.run(['state', 'path', '--json'], { env })).json().config_dir
  const none = { SALLYPORT_CONFIG_DIR: undefined, XDG_CONFIG_HOME: undefined }
  t.equal(await config(none), join(place.env['HOME'] as string, '.config/sallyport'))
  t.equal(await config({ ...none, XDG_CONFIG_HOME: '/x' }), '/x/sallyport')
  t.equal(await config({ ...none, SALLYPORT_CONFIG_DIR: '/y' }), '/y')
  mkdirSync(place.stateDir)
  const link = place.path('link')
  symlinkSync(place.stateDir, link)
  for (const inside of [place.stateDir, join(place.stateDir, 'keys'), join(link, 'new', 'keys')]) {
    const env = { SALLYPORT_CONFIG_DIR: inside }
    const ran = await place.run(['state', 'path', '--json'], { env })
    t.strictSame([ran.status, ran.error().code], [3, 'keys_inside_state'])
  }
})

t.test('--config-dir names the key folder before its variable', async (t) => {
  const place = World.in(t).place
  const found = async (argv: string[]) =>
    (await place.run(['state', 'path', '--json', ...argv])).json().config_dir
  t.equal(await found(['--config-dir', '/z']), '/z')
  t.equal(await found(['--config-dir', 'rel']), place.path('rel'))
  const inside = ['state', 'path', '--json', '--config-dir', place.stateDir]
  const ran = await place.run(inside)
  t.strictSame([ran.status, ran.error().code], [3, 'keys_inside_state'])
})

t.test('a told command names a place that the line names, or a variable that is relative', (t) => {
  const { globals } = scanGlobals([])
  const by = (env: Record<string, string>, line: readonly string[] = []) =>
    carriedBy({ cwd: '/c d', env }, { ...globals, ...scanGlobals(line).globals })
  t.strictSame(by({}), [])
  t.strictSame(by({ SALLYPORT_STATE_DIR: '/s', SALLYPORT_CONFIG_DIR: '/k' }), [],
    'the same environment means the same place')
  t.strictSame(by({ SALLYPORT_STATE_DIR: 's' }), ['--state-dir', '/c d/s'])
  t.strictSame(by({ SALLYPORT_STATE_DIR: '/s' }, ['--state-dir=x', '--config-dir', '../k']),
    ['--state-dir', '/c d/x', '--config-dir', '/k'])
  const served = (stateDir: string, configDir: string) =>
    carriedByService({ env: {}, home: '/h', places: { stateDir, configDir } })
  t.strictSame(served('/h/.local/state/sallyport', '/h/.config/sallyport'), [])
  t.strictSame(served('/s', '/h/.config/sallyport'), ['--state-dir', '/s'])
  t.strictSame(served('/s', '/k'), ['--state-dir', '/s', '--config-dir', '/k'])
  t.end()
})

t.test('state path tells whether there is a state, and shows the keys with --verbose', async (t) => {
  const place = World.in(t).place
  t.strictSame((await place.run(['state', 'path', '--json'])).json(), {
    schema: 'sallyport.state.path.v1', state_dir: place.stateDir, config_dir: place.configDir,
    exists: false,
  })
  mkdirSync(place.stateDir)
  writeFileSync(join(place.stateDir, 'STATE'), '')
  t.equal((await place.run(['state', 'path', '--json'])).json().exists, true)
  const { stdout } = await place.run(['state', 'path', '--verbose'])
  t.match(stdout, `state:  ${place.stateDir}\nkeys:   ${place.configDir}/keys\nexists: yes\n`)
})

t.test('doctor finds nothing on a sound machine and says what is not there yet', async (t) => {
  const place = World.in(t).place
  const ran = await place.run(['doctor', '--json'])
  t.equal(ran.status, 0)
  const { checks } = ran.json()
  // Of a machine on which every test runs there is nothing to say.
  const told = checks.filter((one: { name: string }) => one.name !== 'platform')
  t.strictSame(told.map((one: { name: string; result: string }) => [one.name, one.result]), [
    ['node', 'ok'], ['lock add-on', 'ok'], ['state directory', 'note'], ['key folder', 'note'],
    ['clock', 'ok'], ['environment', 'ok'],
  ])
  t.match((await place.run(['doctor'])).stdout, /^ok       node: v\d/)
})

t.test('doctor names each problem with its next step and ends with 7', async (t) => {
  const place = World.in(t).place
  mkdirSync(place.stateDir, { mode: 0o700 })
  writeFileSync(join(place.stateDir, 'STATE'), '')
  mkdirSync(join(place.configDir, 'keys'), { recursive: true, mode: 0o700 })
  chmodSync(join(place.configDir, 'keys'), 0o750)
  const ran = await place.run(['doctor', '--json'], {
    env: { NODE_DEBUG: 'https', HTTPS_PROXY: 'http://127.0.0.1:1' },
  })
  t.strictSame([ran.status, ran.error().code], [7, 'doctor_found_problems'])
  t.strictSame(ran.error().details, { problems: 3 })
  const problems = ran.json().checks.filter((one: { result: string }) => one.result === 'problem')
  t.strictSame(problems.map((one: { name: string }) => one.name), [
    'state directory', 'key folder', 'environment',
  ])
  t.match(problems[2].text, 'NODE_DEBUG')
  for (const one of problems) t.type(one.next, 'string')
})

t.test('doctor says that a state lost its STATE, and does not offer to make one', async (t) => {
  const place = World.in(t).place
  t.equal((await place.run(['init'])).status, 0)
  rmSync(join(place.stateDir, 'STATE'))
  const ran = await place.run(['doctor', '--json'])
  t.equal(ran.status, 7)
  t.hasStrict(
    ran.json().checks.filter((one: { result: string }) => one.result === 'problem'),
    [{ name: 'state directory', next: 'sallyport state check' }])
  t.equal((await place.run(['state', 'path', '--json'])).json().exists, true)
})

t.test('doctor looks at both files of the store in the key folder, and says what to do', async (t) => {
  const place = World.in(t).place
  t.equal((await place.run(['init'])).status, 0)
  type Looked = { name: string; result: string; next: string | null }
  const look = async (): Promise<[number, [string, string | null][]]> => {
    const ran = await place.run(['doctor', '--json'])
    const files = (ran.json().checks as Looked[]).filter(({ name }) => name.endsWith(' file'))
    return [ran.status, files.map(({ result, next }) => [result, next])]
  }
  t.strictSame(await look(), [0, [['ok', null], ['ok', null]]])
  const keys = join(place.configDir, 'keys')
  const [anchor = '', key = ''] = readdirSync(keys).sort().map((name) => join(keys, name))
  chmodSync(key, 0o640)
  rmSync(anchor)
  t.strictSame(await look(), [7, [
    ['problem', `chmod 600 ${key}`], ['problem', 'sallyport help anchor'],
  ]])
  rmSync(key)
  const [status, [file]] = await look()
  t.equal(status, 7)
  t.match(file?.[1], /^Put it back/)
  const check = await place.run(['state', 'check'])
  t.matchStrict([check.status, check.stderr], [7, /next: Put the key file back.*sallyport doctor/])
})

t.test('doctor notes variables that have no effect', async (t) => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const ran = await World.in(t).place.run(['doctor'], { env })
  t.equal(ran.status, 0)
  t.match(ran.stdout, 'NODE_TLS_REJECT_UNAUTHORIZED has no effect here')
  const both = { ...env, NODE_EXTRA_CA_CERTS: '/x' }
  const several = await World.in(t).place.run(['doctor'], { env: both })
  t.match(several.stdout, /NODE_[A-Z_]+, NODE_[A-Z_]+ have no effect here/)
})

t.test('doctor sees a clock that was never set', async (t) => {
  const { systemClock } = await import('../../src/base/clock.js')
  const clock = { ...systemClock, wallMs: () => 0 }
  const ran = await World.in(t).place.run(['doctor', '--json'], { clock })
  t.equal(ran.status, 7)
})
