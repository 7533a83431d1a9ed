/** Timers of a Mac, against a stand-in for launchctl on PATH. */
import {
  chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { linux } from '../../src/base/platform/linux.js'
import { agentProblem } from '../../src/fabric/launchd/agent-rules.js'
import { propertyListOf } from '../../src/fabric/launchd/property-list.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { launchd } from '../support/cli/launchd.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose, Place, RunOptions } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

type Run = (words: string, more?: RunOptions) => ReturnType<Place['run']>

const at = (place: Place) => {
  const host = launchd(place)
  const run: Run = (words, more = {}) =>
    place.run(['timers', ...words.split(' ')], {
      ...host.options, ...more, env: { ...host.options.env, ...more.env },
    })
  return { host, run }
}

const here = async (t: Parameters<typeof World.in>[0]) => {
  const world = await World.in(t).state().session().images()
  return { world, ...at(world.place) }
}

const jobsOf = (document: Loose): readonly (readonly [string, string])[] =>
  document.agents.map(({ job, state }: Loose) => [job, state] as const)

t.test('on a Mac the agents are shown, made, loaded, told and removed again', async (t) => {
  const { host, run, world } = await here(t)
  await world.json(['shots', 'config', 'set', '--analysis', 'on'])
  const token = loadToken(tokenPath(world.place.stateDir)) ?? ''
  t.not(token, '')
  const env = { SALLYPORT_SESSION: token }
  const made = await run('install --yes --check-age 2h --json', { env })
  t.equal(made.status, 0, made.stderr)
  const names = readdirSync(host.agents).sort()
  t.strictSame(names.map((name) => name.split('.').at(-2)), ['age', 'analyze', 'digest', 'scan'])
  for (const name of names) {
    const text = readFileSync(join(host.agents, name), 'utf8')
    for (const line of text.trim().split('\n')) t.ok(made.stderr.includes(line), 'it was shown')
    t.notMatch(text, token, 'no secret is in it')
    const list = propertyListOf(text)
    const asked = { kind: 'timer', file: name, verb: 'shots', runs: () => true } as const
    t.equal(agentProblem(list, asked), null)
    t.hasStrict(list, {
      ProcessType: 'Background', Umask: 0o077, StandardOutPath: '/dev/null',
    })
    t.equal(statSync(join(host.agents, name)).mode & 0o777, 0o600)
  }
  t.strictSame(host.loaded().map((label) => `${label}.plist`), names)
  t.hasStrict(made.json(), { scheduler: 'launchd', lingering: null })
  t.strictSame(jobsOf(made.json()),
    ['scan', 'analyze', 'digest', 'age'].map((job) => [job, 'waiting']))
  t.equal(statSync(host.logs).mode & 0o777, 0o700)
  const shown = (await run('show')).stdout
  t.match(shown, /^job {8}scan: waiting, 0 runs$/m)
  for (const line of shown.split('\n')) t.ok(line.length <= 80 || line.includes('/'), line)
  const again = await run('install --yes --check-age 2h --json')
  t.strictSame(again.json().agents, made.json().agents, 'a second install is the same')
  t.hasStrict((await run('remove --json')).json(), { scheduler: null, entries: [], agents: [] })
  t.strictSame(host.left(), [])
  t.equal((await run('remove')).status, 0, 'also where nothing is')
})

t.test('what is to stay is an agent that is kept alive, until it is stopped', async (t) => {
  const { host, run } = await here(t)
  const made = await run('install --yes --serve --edge --json')
  t.equal(made.status, 0, made.stderr)
  for (const verb of ['serve', 'edge'] as const) {
    const [file = ''] = readdirSync(host.agents).filter((one) => one.includes(`.${verb}.`))
    const list = propertyListOf(readFileSync(join(host.agents, file), 'utf8'))
    t.equal(agentProblem(list, { kind: 'service', file, verb, runs: () => true }), null)
    t.hasStrict(list, {
      RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, ThrottleInterval: 30,
    })
    t.equal('ProcessType' in (list as object), verb === 'edge')
  }
  t.equal((await run('remove')).status, 0)
  t.strictSame(host.left(), [])
})

t.test('what is to stay and ended well is told as stopped, with the line that starts it', async (t) => {
  const { host, run } = await here(t)
  const self = { uid: 1000, program: ['/bin/true'] }
  const made = await run('install --yes --serve --json', { self })
  t.equal(made.status, 0, made.stderr)
  t.strictSame(jobsOf(made.json()), [['scan', 'waiting'], ['serve', 'waiting']], 'before it ran')
  for (const { label } of made.json().agents as readonly Loose[]) {
    t.equal(host.launchctl(['kickstart', `gui/1000/${label}`]).status, 0)
  }
  t.strictSame(jobsOf((await run('show --json')).json()),
    [['scan', 'waiting'], ['serve', 'stopped']])
  t.match((await run('show')).stdout,
    /^ +to start it: launchctl kickstart "gui\/\$\(id -u\)\/local\.sallyport\.\w{8}\.serve"$/m)
  const less = await run('install --yes --json', { self })
  t.match(less.stderr, /These earlier ones are stopped and removed:\n\S+\.serve\.plist\n/)
})

t.test('each job runs from its agent, fails where it fails, is told so, and runs again', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway().images()
  const { host, run } = at(world.place)
  await world.json(['shots', 'config', 'set', '--analysis', 'on'])
  await world.json(['shots', 'scan'])
  const program = [process.execPath, join(await builtApp(), 'sallyport.js')]
  const self = { uid: 1000, program }
  const made = await run('install --yes --check-age 30d --json', { self })
  t.equal(made.status, 0, made.stderr)
  const labels: readonly string[] = made.json().agents.map(({ label }: Loose) => label)
  const runAll = async (): Promise<Loose> => {
    for (const label of labels) {
      t.equal(host.launchctl(['kickstart', `gui/1000/${label}`]).status, 0)
    }
    return (await run('show --json')).json()
  }
  const exits = ({ agents }: Loose): unknown =>
    agents.map(({ job, last_exit: exit }: Loose) => [job, exit])
  const logs = (): readonly string[] =>
    labels.map((label) => readFileSync(join(host.logs, `${label}.log`), 'utf8'))
  t.strictSame(exits(await runAll()), [['scan', 0], ['analyze', 0], ['digest', 0], ['age', 7]])
  t.match(logs()[3], 'Nothing was observed', 'why it failed stands in its log')
  t.strictSame(logs().slice(0, 3), ['', '', ''], 'what went well tells nothing')
  for (const label of labels) {
    t.equal(statSync(join(host.logs, `${label}.log`)).mode & 0o777, 0o600)
  }
  world.file('one.png', greyPng(8, 8, 100))
  const state = world.place.stateDir
  renameSync(state, `${state}.away`)
  for (const label of labels) host.launchctl(['kickstart', `gui/1000/${label}`])
  renameSync(`${state}.away`, state)
  const failed = await run('show')
  for (const job of ['scan', 'analyze', 'digest', 'age']) {
    t.match(failed.stdout, new RegExp(`^job +${job}: waiting, 2 runs, last exit 10$`, 'm'))
  }
  t.match(failed.stdout, new RegExp(`^ +${host.logs}/${labels[0]}.log$`, 'm'), 'where it says why')
  for (const log of logs()) t.match(log, 'sallyport')
  const last = (await runAll()).agents as readonly Loose[]
  t.hasStrict(last[0],
    { job: 'scan', state: 'waiting', runs: 3, last_exit: 0, last_signal: null })
  t.hasStrict(last[3], { job: 'age', last_exit: 0 }, 'the scan found an image')
  t.type((await run('show --json')).json().last_runs.scan, 'string', 'its receipts know it, too')
  rmSync(host.logs, { recursive: true })
  host.launchctl(['kickstart', `gui/1000/${labels[0]}`])
  t.match((await run('show')).stdout, /last exit 78: launchd could not start it\n +program or log/)
  t.equal((await run('remove')).status, 0)
  t.strictSame(host.left(), [])
})

t.test('timers of two states stand side by side, and one goes without the other', async (t) => {
  const { host, run, world } = await here(t)
  await run('install --yes')
  const first = host.left()
  t.equal(first.length, 3, 'an agent, its log, its label')
  const env = {
    SALLYPORT_STATE_DIR: join(world.place.dir, 'other'),
    SALLYPORT_CONFIG_DIR: join(world.place.dir, 'other-keys'),
  }
  t.equal((await world.run(['init'], { env })).status, 0)
  t.equal((await run('install --yes', { env })).status, 0)
  t.equal(host.left().length, 6)
  t.equal((await run('remove', { env })).status, 0)
  t.strictSame(host.left(), first)
  t.hasStrict((await run('show --json', { env })).json(), { scheduler: null, agents: [] })
  t.strictSame(jobsOf((await run('show --json')).json()), [['scan', 'waiting']])
})

t.test('whatever a path is made of, launchd runs that very path', async (t) => {
  const odd = 'a b&c<d>e"f\'g\\h]]>i&amp;%$`\u00e9\u4e2d\u{1f600}--'
  const world = await World.in(t)
  const { host, run } = at(world.place)
  const [stateDir, configDir] = ['state', 'config'].map((name) =>
    join(world.place.dir, odd, name)) as [string, string]
  const env = { SALLYPORT_STATE_DIR: stateDir, SALLYPORT_CONFIG_DIR: configDir }
  const program = join(world.place.dir, odd, 'program')
  mkdirSync(join(world.place.dir, odd))
  const answer = world.place.path('told')
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${answer}'\n`)
  chmodSync(program, 0o755)
  t.equal((await world.run(['init'], { env })).status, 0)
  const self = { uid: 1000, program: [program, odd] }
  const made = await run('install --yes --json', { env, self })
  t.equal(made.status, 0, made.stderr)
  const [{ label }] = made.json().agents
  t.equal(host.launchctl(['kickstart', `gui/1000/${label}`]).status, 0)
  t.strictSame(readFileSync(answer, 'utf8').trim().split('\n'),
    [odd, 'shots', 'scan', '--quiet', '--state-dir', stateDir, '--config-dir', configDir])
  const list = propertyListOf(readFileSync(join(host.agents, `${label}.plist`), 'utf8'))
  t.strictSame((list as Loose).ProgramArguments.slice(0, 2), [program, odd])
  const never = { uid: 1000, program: [program, 'a\uffffb'] }
  t.equal((await run('install --yes --json', { env, self: never })).error().code, 'timer_path')
})

t.test('launchd is refused where there is none, and so is what it cannot do', async (t) => {
  const { host, run } = await here(t)
  const elsewhere = await run('install --yes --with launchd --json', { system: linux })
  t.strictSame([elsewhere.status, elsewhere.error().code], [7, 'launchd_missing'])
  t.match(elsewhere.error().hint, /Leave out --with/)
  t.equal((await run('install --yes --mail-to me --json')).error().code, 'timer_mail')
  const root = { uid: 0, program: ['/n', '/p'] }
  t.equal((await run('install --yes --json', { self: root })).error().code, 'timers_as_root')
  const terminal = { stdin: true, stdout: true, stderr: true }
  t.equal((await run('install', { terminal, answers: [false] })).status, 130)
  for (const env of [{ LAUNCHCTL_DOMAIN: 'none' }, { LAUNCHCTL_UID: '501' }]) {
    const remote = await run('install --yes --json', { env })
    t.strictSame([remote.status, remote.error().code], [7, 'launchd_no_session'])
  }
  t.strictSame(host.left(), [], 'nothing was written')
  t.equal((await run('install --yes')).status, 0)
  const env = { LAUNCHCTL_DOMAIN: 'none' }
  t.strictSame(jobsOf((await run('show --json', { env })).json()), [['scan', 'no_session']])
  t.match((await run('show', { env })).stdout, 'not loaded until you log in at the screen')
  t.equal((await run('remove', { env })).status, 0, 'nothing is loaded there')
  t.strictSame(readdirSync(host.agents), [])
})

t.test('an agent that is somebody else’s, or a link, is left alone, and so is what ran', async (t) => {
  const { host, run } = await here(t)
  await run('install --yes --check-age 2h')
  const names = readdirSync(host.agents)
  const name = names.find((one) => one.endsWith('age.plist')) ?? ''
  const path = join(host.agents, name)
  const before = host.loaded()
  for (const take of [
    () => writeFileSync(path, '<plist/>'), () => symlinkSync('/dev/null', path),
    () => symlinkSync(join(host.agents, '../elsewhere'), path), () => mkdirSync(path),
  ]) {
    rmSync(path, { recursive: true, force: true })
    take()
    const foreign = await run('install --yes --check-age 3h --json')
    t.equal(foreign.error().code, 'agent_foreign')
    t.strictSame(readdirSync(host.agents), names, 'nothing came and nothing went')
    t.strictSame(host.loaded(), before)
  }
  t.equal((await run('remove')).status, 0)
  t.strictSame(readdirSync(host.agents), [name], 'a removal leaves it, too')
  t.strictSame(host.loaded(), [name.replace('.plist', '')])
})

t.test('what launchd refuses is told with the way on, and what runs on is not forgotten', async (t) => {
  const { host, run } = await here(t)
  const refused = async (words: string, fails: string): Promise<string> => {
    const ran = await run(`${words} --json`, { env: { LAUNCHCTL_FAILS: fails } })
    t.strictSame([ran.status, ran.error().code], [1, 'launchd_refused'], fails)
    return ran.error().hint ?? ''
  }
  for (const status of ['5', '37', '109', '122']) {
    t.match(await refused('install --yes', `bootstrap=${status}`), 'sallyport timers remove')
    t.equal(readdirSync(host.agents).length, 1, 'the file stays')
  }
  t.match((await run('show')).stdout,
    /^job +scan: not loaded\n +to start it: launchctl bootstrap "gui.\$\(id -u\)" \S+\.plist'?$/m)
  const [name = ''] = readdirSync(host.agents)
  const label = name.replace('.plist', '')
  host.disable(label)
  const off = await run('install --yes --json')
  t.match(off.error().hint, `launchctl enable gui/1000/${label}`)
  host.enable(label)
  t.equal((await run('install --yes')).status, 0)
  await refused('remove', 'bootout=1')
  t.strictSame(host.loaded(), [label])
  t.equal(readdirSync(host.agents).length, 1)
  const silent = await run('show --json', { env: { LAUNCHCTL_FAILS: 'print=1' } })
  t.strictSame(jobsOf(silent.json()), [['scan', 'unknown']])
  t.equal((await run('remove')).status, 0)
  t.strictSame(host.left(), [])
})

t.test('a run that is told to end is waited for before its agent is loaded anew', async (t) => {
  const { host, run } = await here(t)
  await run('install --yes')
  const env = { LAUNCHCTL_ENDING: '3' }
  const again = await run('install --yes', { env })
  t.equal(again.status, 0, again.stderr)
  t.match(again.stderr, 'A run is told to end')
  t.equal(host.loaded().length, 1)
  const stop = new AbortController()
  const { sleep } = systemClock
  const clock = { ...systemClock, sleep: async (ms: number, signal?: AbortSignal) => {
    if (ms < 1_000) stop.abort()
    return sleep(ms, signal)
  } }
  const stopped = await run('remove --json', { env, stop: stop.signal, clock })
  t.strictSame([stopped.status, stopped.error().code], [130, 'timers_stopped'])
  t.equal(readdirSync(host.agents).length, 1, 'its file stays until it is gone')
  t.equal((await run('remove', { env })).status, 0)
  t.strictSame(host.left(), [])
})

t.test('what is loaded without a file is told and taken out, and so is what is no longer asked for', async (t) => {
  const { host, run } = await here(t)
  await run('install --yes --check-age 2h')
  t.equal(host.loaded().length, 2)
  await run('install --yes')
  t.equal(host.loaded().length, 1)
  t.equal(host.left().length, 3)
  const [name = ''] = readdirSync(host.agents)
  rmSync(join(host.agents, name))
  const shown = (await run('show --json')).json()
  t.hasStrict(shown, { scheduler: 'launchd', entries: [name.replace('.plist', '')] })
  t.strictSame(jobsOf(shown), [['scan', 'waiting']])
  t.equal((await run('remove')).status, 0)
  t.strictSame(host.left(), [])
})

t.test('a folder for which macOS asks is told where launchd is to read it, and there alone', async (t) => {
  const { run, world } = await here(t)
  t.notMatch((await run('install --yes')).stderr, 'macOS asks')
  const desktop = join(world.place.dir, 'home/Desktop/shots')
  mkdirSync(desktop, { recursive: true })
  await world.json(['shots', 'config', 'set', '--folder', desktop])
  t.match((await run('install --yes')).stderr, 'macOS asks')
  t.notMatch((await run('install --yes --with cron')).stderr, 'macOS asks')
})

t.test('a folder of agents that can be neither read nor written is told before anything changes', async (t) => {
  const { host, run } = await here(t)
  writeFileSync(host.tab, '# mine\n')
  mkdirSync(join(host.agents, '..'), { recursive: true })
  writeFileSync(host.agents, 'no folder')
  for (const words of ['install --yes', 'install --yes --with cron', 'show', 'remove']) {
    const ran = await run(`${words} --json`)
    t.strictSame([ran.status, ran.error().code], [1, 'agents_refused'], words)
  }
  t.equal(readFileSync(host.tab, 'utf8'), '# mine\n')
  t.strictSame(host.loaded(), [])
})

t.test('on a Mac one state has one set of timers, however its path is spelled', async (t) => {
  const { host, run, world } = await here(t)
  t.equal((await run('install --yes')).status, 0)
  const other = join(world.place.stateDir, '..', 'STATE')
  t.equal((await run('remove', { env: { SALLYPORT_STATE_DIR: other } })).status, 0)
  t.strictSame(host.left(), [])
})

t.test('cron and launchd take the place of each other', async (t) => {
  const { host, run } = await here(t)
  writeFileSync(host.tab, '# mine\n')
  t.hasStrict((await run('install --yes --with cron --json')).json(), { scheduler: 'cron' })
  t.strictSame(host.left(), [])
  t.hasStrict((await run('install --yes --json')).json(), { scheduler: 'launchd' })
  t.equal(readFileSync(host.tab, 'utf8'), '# mine\n')
  t.hasStrict((await run('install --yes --with cron --json')).json(), { scheduler: 'cron' })
  t.strictSame(host.left(), [])
  t.equal((await run('install --yes --with systemd --json')).error().code, 'systemd_refused')
  t.equal((await run('remove')).status, 0)
  t.equal(readFileSync(host.tab, 'utf8'), '# mine\n')
})

t.test('altered lines of a crontab are told before an agent comes or goes', async (t) => {
  const { host, run } = await here(t)
  await run('install --yes --with cron')
  const altered = readFileSync(host.tab, 'utf8').replace(/^# .* end\n/m, '')
  writeFileSync(host.tab, altered)
  t.equal((await run('install --yes --json')).error().code, 'crontab_altered')
  t.strictSame(host.left(), [])
  rmSync(host.tab)
  await run('install --yes')
  const left = host.left()
  writeFileSync(host.tab, altered)
  for (const words of ['install --yes --check-age 2h', 'remove']) {
    t.equal((await run(`${words} --json`)).error().code, 'crontab_altered', words)
    t.strictSame(host.left(), left, words)
  }
})

const preloads = ['test/support/darwin.cjs', 'test/support/cli/user.cjs']
  .flatMap((name) => ['--require', join(process.cwd(), name)])

t.test('whoever is killed at any step installs or removes by the same line again', async (t) => {
  const { host, run, world } = await here(t)
  const killed = (words: string, kills: string) =>
    world.place.spawn(['timers', ...words.split(' ')], {
      nodeArgs: preloads, coverage: false, env: { ...host.options.env, LAUNCHCTL_KILLS: kills },
    })
  const install = 'install --yes --check-age 2h'
  for (const step of ['print', 'bootstrap#scan', 'bootstrap#age', 'bootout#age']) {
    t.equal((await killed(install, step)).status, 137, step)
    const made = await run(install)
    t.equal(made.status, 0, made.stderr)
    t.equal(host.left().length, 6, `${step}: all of both`)
  }
  const [first = ''] = readdirSync(host.agents)
  // Who is killed while files are written leaves one that has no name yet.
  writeFileSync(join(host.agents, `.${first}.4711`), 'half')
  t.equal((await killed('remove', 'bootout#age')).status, 137)
  t.strictSame(host.loaded().map((label) => label.split('.').at(-1)), ['age'])
  t.equal((await run('remove')).status, 0)
  t.strictSame(host.left(), [])
})

t.test('a program on a Mac chooses launchd by itself', async (t) => {
  const { host, world } = await here(t)
  const spawned = (words: string) =>
    world.place.spawn(['timers', ...words.split(' ')], {
      nodeArgs: preloads, env: host.options.env,
    })
  const made = await spawned('install --yes --json')
  t.equal(made.status, 0, made.stderr)
  t.hasStrict(made.json(), { scheduler: 'launchd' })
  t.match((await spawned('show')).stdout, /^job +scan: waiting, 0 runs$/m)
  t.equal((await spawned('remove')).status, 0)
  t.strictSame(host.left(), [])
})
