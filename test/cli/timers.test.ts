/** Timers, against stand-ins for systemctl, loginctl, crontab and sendmail on PATH. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  cronLinesOf, scheduleOf, withBlock, withoutBlock,
} from '../../src/fabric/timers/crontab.js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { kernelStateLock } from '../../src/state/lock.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { schedulers } from '../support/cli/schedulers.js'
import { must } from '../support/must.js'
import { codeOf } from '../support/refused.js'
import { signalled } from '../support/signalled.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose, RunOptions } from '../world/place.js'
import { World } from '../world/world.js'

const here = async (t: Parameters<typeof World.in>[0], systemd: boolean) => {
  const world = await World.in(t).state().session().images()
  const host = schedulers(world.place, { systemd })
  const run = (words: string, more: RunOptions = {}) =>
    world.run(['timers', ...words.split(' ')], { ...host.options, ...more })
  return { world, host, run }
}

const isAlive = (pid: number): boolean => signalled(pid, 0)

t.test('with systemd the units are shown, made, started, told and removed again', async (t) => {
  const { host, run, world } = await here(t, true)
  await world.json(['shots', 'config', 'set', '--analysis', 'on'])
  const made = await run('install --yes --check-age 2h --mail-to me@example.org --json')
  t.equal(made.status, 0, made.stderr)
  const names = readdirSync(host.units).sort()
  t.equal(names.length, 9, names.join(' '))
  for (const name of names) {
    const text = readFileSync(join(host.units, name), 'utf8')
    t.ok(made.stderr.includes(text.split('\n')[2] ?? 'no such line'), 'it was shown')
    if (!/(scan|analyze|digest|age)\.service$/.test(name)) continue
    t.match(text, 'ExecStart="/usr/bin/node" "/opt/sally port/bin" "shots"', 'absolute, quoted')
    t.match(text, `"--state-dir" "${world.place.stateDir}"`)
    t.match(text, `"--config-dir" "${world.place.configDir}"`)
    t.match(text, /OnFailure=sallyport-[0-9a-f]{8}-mail@%n\.service/)
    t.match(text, '\nStandardError=journal\n', 'what failed does not go where stdout goes')
  }
  t.ok(host.calls().includes('systemctl --user daemon-reload'))
  for (const verb of ['enable', 'restart']) {
    t.ok(host.calls().some((line) => line.startsWith(`systemctl --user ${verb} `)
      && /-scan\.timer/.test(line)), verb)
  }
  t.hasStrict(made.json(), { scheduler: 'systemd', lingering: false })
  t.match((await run('show')).stdout, 'off: they run only while you are logged in')
  t.hasStrict((await run('remove --json')).json(), { scheduler: null, entries: [] })
  t.strictSame(readdirSync(host.units), [])
  t.ok(host.calls().some((line) => /disable --now .*-scan\.timer/.test(line)))
})

t.test('a foreign crontab is byte for byte the same after the lines came and went', async (t) => {
  const { host, run } = await here(t, false)
  const foreign = Buffer.from('MAILTO=me\n# \xe9 100\\%\n\n0 * * * * true\n', 'latin1')
  writeFileSync(host.tab, foreign)
  const made = await run('install --yes --json')
  t.equal(made.status, 0, made.stderr)
  t.hasStrict(made.json(), { scheduler: 'cron', lingering: null })
  const crontab = readFileSync(host.tab)
  t.ok(crontab.subarray(0, foreign.length).equals(foreign), 'what was there stands first')
  t.match(crontab.toString('latin1'), "'/opt/sally port/bin' 'shots' 'scan' '--quiet'")
  const again = await run('install --yes --json')
  t.ok(readFileSync(host.tab).equals(crontab), `a second install is the same: ${again.stderr}`)
  const removed = await run('remove')
  t.strictSame([removed.status, removed.stderr], [0, ''], 'nothing that it started is left')
  t.ok(readFileSync(host.tab).equals(foreign))
  const none = await here(t, false)
  await none.run('install --yes')
  await none.run('remove')
  t.notOk(existsSync(none.host.tab), 'where there was none there is none')
})

t.test('no secret is in a unit or a line, and nothing is installed without a yes', async (t) => {
  const { host, run, world } = await here(t, true)
  const token = loadToken(tokenPath(world.place.stateDir)) ?? ''
  t.not(token, '')
  const env = { ...host.options.env, SALLYPORT_SESSION: token, SVC_SCREENSHOT_FOLDER: '/x' }
  const asked = await run('install --no-input', { env })
  t.equal(asked.status, 2, asked.stderr)
  const terminal = { stdin: true, stdout: true, stderr: true }
  const no = await run('install --quiet', { env, terminal, answers: [false] })
  t.equal(no.status, 130)
  t.match(no.stderr, 'ExecStart=', 'shown, quiet or not')
  t.notOk(existsSync(host.units))
  const yes = await run('install', { env, terminal, answers: [true] })
  t.equal(yes.status, 0, yes.stderr)
  t.match(yes.stderr, 'SVC_SCREENSHOT_FOLDER', 'what a timer does not see is named')
  for (const name of readdirSync(host.units)) {
    t.notMatch(readFileSync(join(host.units, name), 'utf8'), token, name)
  }
})

t.test('what is to stay is a unit that starts anew, but for statuses after which a person acts', async (t) => {
  const { host, run, world } = await here(t, true)
  const device = join(world.place.dir, '100 % $device')
  const made = await run('install --yes --serve --public desk.example:8443 --edge --json', {
    env: { ...host.options.env, SALLYPORT_EDGE_DIR: device },
  })
  t.equal(made.status, 0, made.stderr)
  t.match(made.stderr, 'This device is not paired')
  const doubled = device.replace(/[%$]/g, (mark) => mark + mark)
  const folder = `"/usr/bin/env" "SALLYPORT_EDGE_DIR=${doubled}" `
  for (const [name, before, words] of [
    ['serve', '', '"serve" "--public" "desk.example:8443"'], ['edge', folder, '"edge" "daemon"'],
  ] as const) {
    const [file = ''] = readdirSync(host.units).filter((one) => one.endsWith(`-${name}.service`))
    const text = readFileSync(join(host.units, file), 'utf8')
    t.match(text, `ExecStart=${before}"/usr/bin/node" "/opt/sally port/bin" ${words} "--state-dir"`)
    t.match(text, '\nRestart=on-failure\n')
    t.match(text, '\nRestartPreventExitStatus=2 3 4 5 7 10 12\n')
    t.match(text, '\nWantedBy=default.target\n')
    t.match(text, /\nKillMode=mixed\nTimeoutStopSec=150\n/)
    t.notMatch(text, 'Type=oneshot')
    for (const job of readdirSync(host.units).filter((one) => one.endsWith('-scan.service'))) {
      t.match(readFileSync(join(host.units, job), 'utf8'),
        /Type=oneshot\nKillMode=mixed\nTimeoutStopSec=150\n/, 'a paid request has time to end')
    }
    for (const verb of ['enable', 'restart']) {
      t.ok(host.calls().some((line) => line.startsWith(`systemctl --user ${verb} `)
        && line.includes(file)), `${verb} ${file}`)
    }
    t.notOk(readdirSync(host.units).some((one) => one.endsWith(`-${name}.timer`)))
    mkdirSync(join(host.units, 'default.target.wants'), { recursive: true })
    symlinkSync(join('..', file), join(host.units, 'default.target.wants', file))
  }
  t.equal((await run('remove')).status, 0)
  t.ok(host.calls().some((line) => /disable --now .*-edge\.service .*-serve\.service/.test(line)))
  t.strictSame(readdirSync(host.units), ['default.target.wants'])
  t.strictSame(readdirSync(join(host.units, 'default.target.wants')), [], 'no link is left')
  const alone = await run('install --yes --json --public desk.example:8443')
  t.strictSame([alone.status, alone.error().code], [2, 'public_without_serve'])
  const odd = await run('install --yes --json --serve --public https://desk.example')
  t.equal(odd.status, 3, odd.stderr)
  t.strictSame(readdirSync(host.units), ['default.target.wants'])
})

t.test('a device without a state keeps its daemon, by units or by a line of cron', async (t) => {
  for (const systemd of [true, false]) {
    const world = await World.in(t)
    const host = schedulers(world.place, { systemd })
    const run = (words: string) => world.run(['timers', ...words.split(' ')], host.options)
    t.strictSame((await run('install --yes --json --serve --edge')).error().code, 'no_state')
    const made = await run('install --yes --edge --json')
    t.equal(made.status, 0, made.stderr)
    t.hasStrict(made.json(), { last_runs: null, scheduler: systemd ? 'systemd' : 'cron' })
    if (systemd) {
      t.strictSame(readdirSync(host.units).map((one) => one.split('-').at(-1)), ['edge.service'])
    } else {
      const tab = readFileSync(host.tab, 'utf8')
      t.match(tab, /^@reboot '\/usr\/bin\/env' 'SALLYPORT_EDGE_DIR=\S+' '\/usr\/bin\/node' /m)
      t.match(tab, /' 'edge' 'daemon' .*>\/dev\/null$/m)
      t.match(made.stderr, 'Until then: `sallyport edge daemon`')
    }
    const { entries, scheduler } = made.json()
    t.hasStrict((await run('show --json')).json(), { entries, scheduler, last_runs: null })
    const removed = await run('remove')
    t.equal(removed.status, 0)
    t.equal(removed.stderr.includes('Cron ends nothing that it started'), !systemd, 'it goes on')
    t.equal((await run('show --json')).error().code, 'no_state')
  }
})

t.test('lines of a crontab that were altered by hand are told before anything changes', async (t) => {
  const { host, run } = await here(t, true)
  await run('install --yes --with cron')
  const altered = readFileSync(host.tab, 'utf8').replace(/^# .* end\n/m, '')
  writeFileSync(host.tab, altered)
  const refused = async (words: string): Promise<void> => {
    const ran = await run(`${words} --json`)
    t.strictSame([ran.status, ran.error().code], [5, 'crontab_altered'], words)
    t.match(ran.error().hint, 'Nothing was changed', words)
  }
  await refused('install --yes --with systemd')
  t.notOk(existsSync(host.units), 'no unit was written')
  rmSync(host.tab)
  t.equal((await run('install --yes --with systemd')).status, 0)
  const units = readdirSync(host.units)
  writeFileSync(host.tab, altered)
  await refused('install --yes --with systemd --check-age 2h')
  await refused('remove')
  t.strictSame(readdirSync(host.units), units, 'nothing came and nothing went')
  t.equal(readFileSync(host.tab, 'utf8'), altered)
})

t.test('settings that ask for no job make no timers, only what is to stay', async (t) => {
  const { host, run, world } = await here(t, true)
  await world.json(['shots', 'config', 'set', '--ingest-enabled', 'off'])
  const idle = (await run('install --yes --json')).error()
  t.equal(idle.code, 'timers_idle')
  t.match(JSON.stringify(idle), 'sallyport timers remove', 'what was installed before goes on')
  const made = await run('install --yes --serve --json')
  t.equal(made.status, 0, made.stderr)
  t.strictSame(readdirSync(host.units).map((one) => one.split('-').at(-1)), ['serve.service'])
})

t.test('timers are refused for root, and before anything is asked', async (t) => {
  const { host, run } = await here(t, true)
  const root = await run('install --yes --json', { self: { uid: 0, program: ['/n', '/p'] } })
  t.strictSame([root.status, root.error().code], [7, 'timers_as_root'])
  const odd = await run('install --yes --json', { self: { uid: 1, program: ['/n', '/p\nq'] } })
  t.equal(odd.error().code, 'timer_path')
  const back = { uid: 1, program: ['/n', '/p\\q'] }
  const cron = await run('install --with cron --yes --json', { self: back })
  t.equal(cron.error().code, 'timer_path')
  const quote = { uid: 1, program: ['/n"', '/p'] }
  t.equal((await run('install --yes --json', { self: quote })).error().code, 'timer_path')
  t.notOk(existsSync(host.units))
  t.notOk(existsSync(host.tab))
  for (const words of ['--mail-to -oQ/tmp', '--with cron --mail-to me']) {
    t.equal((await run(`install --yes --json ${words}`)).error().code, 'timer_mail', words)
  }
})

t.test('a unit that is somebody else’s, or a link, is left alone, and so is what ran', async (t) => {
  const { host, run } = await here(t, true)
  await run('install --yes --check-age 2h --mail-to me')
  const names = readdirSync(host.units)
  const name = names.find((one) => one.endsWith('age.timer')) ?? ''
  const path = join(host.units, name)
  const elsewhere = join(host.units, '../elsewhere')
  const takeOver = [
    () => writeFileSync(path, '[Unit]\n'),
    () => symlinkSync('/dev/null', path),
    () => symlinkSync(elsewhere, path),
    () => mkdirSync(path),
  ]
  for (const [which, take] of takeOver.entries()) {
    rmSync(path, { recursive: true, force: true })
    take()
    const before = host.calls().length
    const foreign = await run('install --yes --check-age 3h --json')
    t.equal(foreign.error().code, 'unit_foreign', String(which))
    t.strictSame(readdirSync(host.units), names, 'nothing came and nothing went')
    const asked = host.calls().slice(before).filter((line) => !line.includes('show-environment'))
    t.strictSame(asked, [], 'nothing was stopped')
  }
  t.notOk(existsSync(elsewhere), 'nothing is written through a link')
  await run('remove')
  t.strictSame(readdirSync(host.units), [name], 'a removal leaves it, too')
})

t.test('what an earlier install made and this one does not is stopped and gone', async (t) => {
  const { host, run } = await here(t, true)
  await run('install --yes --check-age 2h --mail-to me')
  t.equal(readdirSync(host.units).length, 5)
  await run('install --yes')
  t.equal(readdirSync(host.units).length, 2)
  t.ok(host.calls().some((line) => /disable --now \S+-age\.timer$/.test(line)))
  writeFileSync(host.tab, '# mine\n')
  await run('install --yes --with cron')
  t.strictSame(readdirSync(host.units), [], 'cron in place of systemd')
  t.match(readFileSync(host.tab, 'utf8'), "'scan'")
  await run('install --yes --with systemd')
  t.equal(readFileSync(host.tab, 'utf8'), '# mine\n', 'systemd in place of cron')
})

t.test('a machine that refuses is told, and what stands is removed without it', async (t) => {
  const { host, run, world } = await here(t, true)
  for (const step of ['daemon-reload', 'enable', 'restart']) {
    const env = { ...host.options.env, SYSTEMCTL_FAILS: `--user ${step}` }
    const ran = await run('install --yes --json', { env })
    t.equal(ran.error().code, 'systemd_refused', step)
    t.equal(readdirSync(host.units).length, 2)
  }
  const stubborn = { ...host.options.env, SYSTEMCTL_FAILS: 'disable' }
  t.equal((await run('remove --json', { env: stubborn })).error().code, 'systemd_refused')
  t.equal(readdirSync(host.units).length, 2, 'what runs on is not forgotten')
  const [timer = ''] = readdirSync(host.units).filter((name) => name.endsWith('.timer'))
  const wants = join(host.units, 'timers.target.wants')
  mkdirSync(wants)
  symlinkSync(join(host.units, timer), join(wants, timer))
  const gone = schedulers(world.place, { systemd: false })
  const removed = await run('remove', gone.options)
  t.equal(removed.status, 0, removed.stderr)
  t.match(removed.stderr, 'No manager of user units answers')
  t.strictSame(readdirSync(host.units), ['timers.target.wants'])
  t.strictSame(readdirSync(wants), [])
})

t.test('a crontab that cannot be read is not written, and does not stop units', async (t) => {
  const { host, run } = await here(t, false)
  const none = await run('install --yes --with cron --json', { env: { PATH: '/nowhere' } })
  t.equal(none.error().code, 'crontab_missing')
  const unasked = await run('install --with cron --json', { env: { PATH: '/nowhere' } })
  t.equal(unasked.error().code, 'crontab_missing', 'nobody is asked about what cannot be done')
  const denied = 'echo "not allowed" >&2; exit 1'
  for (const body of [denied, 'kill -KILL $$']) {
    host.program('crontab', body)
    t.equal((await run('install --yes --with cron --json')).error().code, 'crontab_unreadable')
    t.equal((await run('remove --json')).error().code, 'crontab_unreadable')
  }
  host.program('systemctl', 'exit 0')
  for (const words of ['install --yes', 'show', 'remove']) {
    t.equal((await run(words)).status, 0, words)
  }
  host.program('crontab', '[ "$1" = -l ] && exit 0; cat > /dev/null')
  t.equal((await run('install --yes --with cron --json')).error().code, 'crontab_not_written')
})

t.test('a program of the machine that does not end is not waited for, nor what it started', async (t) => {
  const { host, run, world } = await here(t, false)
  const pids = world.place.path('pids')
  // Each would last for a day; the shell of the first does not heed a request to end.
  for (const body of [
    `trap '' TERM; sleep 86400 & echo "$$ $!" > '${pids}'; wait`,
    `echo "$$ $$" > '${pids}'; exec sleep 86400`,
  ]) {
    rmSync(pids, { force: true })
    host.program('crontab', body)
    const clock: Clock = {
      ...systemClock, sleep: () => until('it was started', () =>
        existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n')),
    }
    const ran = await run('remove --json', { clock })
    t.strictSame([ran.status, ran.error().code], [1, 'crontab_unreadable'])
    const [own = 0, started = 0] = readFileSync(pids, 'utf8').trim().split(' ').map(Number)
    await until('it was ended', () => !isAlive(own))
    if (started !== own) signalled(started, 'SIGKILL')
  }
})

t.test('systemd has as long to stop the service as its unit gives to a paid request', async (t) => {
  const { host, run } = await here(t, true)
  const [asked, released] = ['asked', 'released'].map((file) => join(host.tab, '..', file))
  t.teardown(() => writeFileSync(released ?? '', ''))
  host.program('systemctl', `case "$*" in *' restart '*|*' disable '*)
  touch '${asked}'; while [ ! -e '${released}' ]; do sleep 0.02; done ;;
esac`)
  // What would be over before a unit of `TimeoutStopSec=150` has to have ended is over at once.
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      if (ms > 150_000) writeFileSync(released ?? '', '')
      await (ms > 150_000 ? systemClock.sleep(ms, signal) : until('it was asked, or has ended',
        () => signal?.aborted === true || existsSync(asked ?? '')))
    },
  }
  for (const words of ['install --yes --serve', 'remove']) {
    for (const file of [asked, released]) rmSync(file ?? '', { force: true })
    const ran = await run(`${words} --json`, { clock })
    t.equal(ran.status, 0, ran.stderr)
    t.equal(ran.stderr.split('What runs is told to end').length, 2, 'told once')
    t.ok(existsSync(asked ?? ''), words)
  }
  t.strictSame(readdirSync(host.units), [])
})

t.test('whoever interrupts while the machine is asked changes no timer by it', async (t) => {
  for (const name of ['systemctl', 'crontab'] as const) {
    const { host, run } = await here(t, false)
    writeFileSync(host.tab, '# mine\n')
    const stop = new AbortController()
    const asked = join(host.tab, '..', 'asked')
    // What an interrupt at a terminal does: it ends the program that is asked, too.
    host.program(name,
      `touch '${asked}'; while [ -e '${asked}' ]; do sleep 0.02; done; kill -INT $$`)
    const ran = run('install --yes --json', { stop: stop.signal })
    await until('it is asked', () => existsSync(asked))
    stop.abort()
    rmSync(asked)
    const ended = await ran
    t.strictSame([ended.status, ended.error().code], [130, 'timers_stopped'], name)
    t.equal(readFileSync(host.tab, 'utf8'), '# mine\n', 'no line came')
    t.notOk(existsSync(host.units), 'no unit came')
  }
})

t.test('whoever interrupts does not wait for a program of the machine that goes on', async (t) => {
  for (const name of ['systemctl', 'crontab'] as const) {
    const { host, run } = await here(t, false)
    const stop = new AbortController()
    const [asked, released] = ['asked', 'released'].map((file) => join(host.tab, '..', file))
    t.teardown(() => writeFileSync(released ?? '', ''))
    host.program(name, `trap '' INT TERM
touch '${asked}'; while [ ! -e '${released}' ]; do sleep 0.02; done`)
    let ended: number | null = null
    void run('install --yes --json', { stop: stop.signal }).then(({ status }) => (ended = status))
    await until('it is asked', () => existsSync(asked ?? ''))
    stop.abort()
    await until('the end', () => ended !== null)
    t.equal(ended, 130, name)
  }
})

t.test('timers of one user are changed one at a time, whatever state they are of', async (t) => {
  const { host, run, world } = await here(t, false)
  await run('install --yes')
  const [before, calls] = [readFileSync(host.tab, 'utf8'), host.calls().length]
  const path = join(world.place.dir, 'home/.cache/sallyport/timers.lock')
  const lock = kernelStateLock(path, systemClock)
  t.ok(lock.tryTake('another'))
  for (const words of ['remove', 'install --yes --with cron']) {
    const ran = await run(`${words} --wait 0 --json`)
    t.strictSame([ran.status, ran.error().code], [11, 'timers_locked'], words)
  }
  t.strictSame(host.calls().slice(calls).filter((line) => line !== 'crontab -l'), [],
    'nothing but a look')
  t.equal(readFileSync(host.tab, 'utf8'), before)
  lock.close()
  t.equal((await run('remove --wait 0')).status, 0)
  t.notOk(existsSync(host.tab))
  rmSync(join(path, '..'), { recursive: true })
  writeFileSync(join(path, '..'), 'no folder')
  t.equal((await run('install --yes')).status, 0, 'where there can be no lock it goes without')
  t.equal((await run('remove')).status, 0)
})

t.test('units that can be neither read nor written are told before anything changes', async (t) => {
  const { host, run, world } = await here(t, false)
  writeFileSync(host.tab, '# mine\n')
  mkdirSync(join(host.units, '..'), { recursive: true })
  writeFileSync(host.units, 'no folder')
  for (const words of ['install --yes', 'install --yes --with systemd', 'show', 'remove']) {
    const ran = await run(`${words} --json`)
    t.strictSame([ran.status, ran.error().code], [1, 'units_refused'], words)
  }
  t.equal(readFileSync(host.tab, 'utf8'), '# mine\n')
  const { status, stderr } = await world.run(['setup'], {
    ...host.options, terminal: { stdin: true, stdout: true, stderr: true },
    answers: [false, false, false, false],
  })
  t.equal(status, 0, `a set-up goes on: ${stderr}`)
})

t.test('a crontab that heads its tables anew is the same but for that heading', async (t) => {
  const { host, run } = await here(t, false)
  const heading = '# DO NOT EDIT THIS FILE - edit the master and reinstall.'
  host.program('crontab', `case "$1" in
-l) [ -f '${host.tab}' ] && cat '${host.tab}' || { echo "no crontab for me" >&2; exit 1; } ;;
-r) rm -f '${host.tab}' ;;
-) { printf '%s\\n# (on %s)\\n# (Cron)\\n' '${heading}' $$; cat; } > '${host.tab}' ;;
esac`)
  const bare = () => readFileSync(host.tab, 'latin1').split('\n').slice(3).join('\n')
  for (const words of ['install --yes', 'install --yes --check-age 2h', 'remove']) {
    t.equal((await run(words)).status, 0, words)
  }
  t.notOk(existsSync(host.tab), 'where there was none there is none')
  writeFileSync(host.tab, `${heading}\n# (x)\n# (y)\n0 * * * * true\n`)
  for (const words of ['install --yes', 'install --yes --check-age 2h', 'remove']) {
    const ran = await run(words)
    t.equal(ran.status, 0, `${words}: ${ran.stderr}`)
    t.ok(bare().startsWith('0 * * * * true\n'), words)
  }
  t.equal(bare(), '0 * * * * true\n')
})

/** What cron hands to the shell: a bare percent sign ends it, one with a backslash is itself. */
const commandOf = (line: string): string =>
  line.split(' ').slice(5).join(' ').replace(/(?<!\\)%[^]*$/, '').replaceAll('\\%', '%')

t.test('whatever a path is made of, what runs is that very path', async (t) => {
  const odd = 'a b%c$d`e\'f"g#é\u4e2d'
  const world = await World.in(t)
  const host = schedulers(world.place, { systemd: false })
  const [stateDir, configDir] = ['state', 'config'].map((name) =>
    join(world.place.dir, odd, name)) as [string, string]
  const env = {
    ...host.options.env, SALLYPORT_STATE_DIR: stateDir, SALLYPORT_CONFIG_DIR: configDir,
  }
  const [told, program] = [world.place.path('told'), world.place.path('program')]
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "$TOLD"\n`)
  chmodSync(program, 0o755)
  const self = { uid: 1, program: [program, odd] }
  t.equal((await world.run(['init'], { env })).status, 0)
  // On a Mac the agents of launchd come first.
  const words = ['timers', 'install', '--with', 'cron', '--yes', '--json']
  const made = await world.run(words, { env, self })
  t.equal(made.status, 0, made.stderr)
  const [line = ''] = made.json().entries
  spawnSync('/bin/sh', ['-c', commandOf(line)], { env: { TOLD: told } })
  t.strictSame(readFileSync(told, 'utf8').trim().split('\n'),
    [odd, 'shots', 'scan', '--quiet', '--state-dir', stateDir, '--config-dir', configDir])
})

const analyses = spawnSync('systemd-analyze', ['--version']).status === 0

t.test('systemd finds nothing wrong with the units, whatever a path is made of', {
  skip: analyses ? false : 'needs the program systemd-analyze',
}, async (t) => {
  const { host, run, world } = await here(t, true)
  const program = join(world.place.dir, 'a b%c$d é')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const self = { uid: 1, program: [program, '/p "q" \'r\' \\ $s %t'] }
  const made = await run('install --yes --mail-to me --check-age 2h', { self })
  t.equal(made.status, 0, made.stderr)
  const paths = readdirSync(host.units).filter((name) => !name.includes('@'))
    .map((name) => join(host.units, name))
  const judged = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', ...paths], {
    encoding: 'utf8', env: { PATH: process.env['PATH'], XDG_RUNTIME_DIR: world.place.dir },
  })
  t.strictSame([judged.status, judged.stderr], [0, ''])
})

t.test('status and timers show tell the newest run of each job', async (t) => {
  const { run, world } = await here(t, true)
  t.strictSame((await run('show --json')).json().last_runs,
    { scan: null, analyze: null, digest: null })
  await world.json(['shots', 'scan'])
  const { scan } = (await run('show --json')).json().last_runs
  t.type(scan, 'string')
  t.equal((await world.json(['status'])).last_runs.scan, scan)
  t.match((await world.run(['status'])).stdout, `last runs  scan ${scan}`)
  await world.json(['shots', 'scan'])
  const { last_scan_at: idle } = (await world.json(['shots', 'status'])).screenshot_folder
  t.ok(idle > scan, 'a look that found nothing new')
  t.equal((await run('show --json')).json().last_runs.scan, idle)
  t.equal((await world.json(['status'])).last_runs.scan, idle)
})

t.test('timers are those of the state however it is reached, and the plan names what goes', async (t) => {
  const { host, run, world } = await here(t, true)
  const link = join(world.place.dir, 'a link')
  symlinkSync(world.place.stateDir, link)
  const through = (...words: string[]) =>
    world.run(['timers', ...words, '--state-dir', link], host.options)
  const made = await through('install', '--yes', '--serve', '--json')
  t.equal(made.status, 0, made.stderr)
  t.notMatch(made.stderr, 'earlier ones')
  t.strictSame((await run('show --json')).json().entries, made.json().entries)
  const less = await run('install --yes --json')
  t.match(less.stderr, /^These earlier ones are stopped and removed:\n\S+-serve\.service$/m)
  t.equal((await through('remove')).status, 0)
  t.strictSame(readdirSync(host.units), [])
})

t.test('nothing is stopped where the units that follow cannot be written', async (t) => {
  const { host, run } = await here(t, true)
  must(await run('install --yes --serve --json'))
  const [scan = ''] = readdirSync(host.units).filter((name) => name.endsWith('-scan.service'))
  // What lies where a unit is written before it gets its name.
  mkdirSync(join(host.units, `.${scan}.${process.pid}`))
  const before = host.calls().length
  t.equal((await run('install --yes --json')).error().code, 'units_refused')
  t.strictSame(host.calls().slice(before).filter((line) => line.includes('disable')), [])
  t.ok(readdirSync(host.units).some((name) => name.endsWith('-serve.service')))
})

t.test('no line is written where the units that it replaces became unreadable while somebody thought', async (t) => {
  const { host, run } = await here(t, true)
  must(await run('install --yes --json'))
  const asked = await run('install --with cron', {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [async () => {
      renameSync(host.units, `${host.units}-before`)
      writeFileSync(host.units, 'no folder')
      return true
    }],
  })
  t.equal(asked.status, 1, asked.stderr)
  t.match(asked.stderr, 'The folder of the user units cannot be read.')
  t.notOk(existsSync(host.tab), 'both would run')
})

/** A manager that tells these blocks of the units it is asked about; it fails at a template. */
const telling = (blocks: Readonly<Record<string, string>>): string => `case "$*" in
*' show '*) for unit in "$@"; do case $unit in *@.service) exit 1 ;;
${Object.entries(blocks).map(([end, block]) =>
    `*${end}) printf 'Id=%s\\n${block.replaceAll(' ', '\\n')}\\n\\n' "$unit" ;;`).join('\n')}
esac; done ;;
esac`

t.test('timers show tells how each job stands with systemd, and leads on from what failed', async (t) => {
  const { host, run } = await here(t, true)
  must(await run('install --yes --serve --edge --check-age 2h --mail-to me --json'))
  const units = async () => Object.fromEntries(
    ((await run('show --json')).json().units as readonly Loose[])
      .map(({ job, state, last_exit, last_signal }) => [job, [state, last_exit, last_signal]]))
  t.strictSame(await units(), {
    scan: ['unknown', null, null], age: ['unknown', null, null],
    serve: ['unknown', null, null], edge: ['unknown', null, null],
  }, 'a manager that tells nothing')
  host.program('systemctl', telling({
    'scan.timer': 'ActiveState=active', 'age.timer': 'ActiveState=inactive',
    'scan.service': 'ActiveState=failed SubState=failed ExecMainCode=1 ExecMainStatus=5',
    'age.service': 'ActiveState=failed SubState=failed ExecMainCode=2 ExecMainStatus=9',
    'serve.service': 'ActiveState=failed SubState=failed ExecMainCode=1 ExecMainStatus=10',
    'edge.service': 'ActiveState=activating SubState=auto-restart ExecMainCode=3 ExecMainStatus=6',
  }))
  t.strictSame(await units(), {
    scan: ['waiting', 5, null], age: ['stopped', null, 9],
    serve: ['failed', 10, null], edge: ['waiting', null, 6],
  })
  const { stdout } = await run('show')
  t.match(stdout, /^job {8}serve: failed, and is not started anew, last exit 10$/m)
  t.match(stdout, /^ +journalctl --user -u sallyport-[0-9a-f]{8}-serve\.service$/m)
  for (const unit of ['serve.service', 'age.timer']) {
    t.match(stdout.replaceAll(/\s+/g, ' '),
      new RegExp(`to start it: systemctl --user start sallyport-[0-9a-f]{8}-${unit}`))
  }
  t.match(stdout, /^job {8}edge: waiting, ended by signal 6$/m)
  host.program('systemctl', telling({
    'scan.timer': 'ActiveState=active', 'age.timer': 'ActiveState=active',
    'scan.service': 'ActiveState=activating SubState=start ExecMainCode=0 ExecMainStatus=0',
    'age.service': 'ActiveState=inactive SubState=dead ExecMainCode=1 ExecMainStatus=0',
    'serve.service': 'ActiveState=active SubState=running ExecMainCode=0 ExecMainStatus=0',
    'edge.service': 'ActiveState=inactive SubState=dead ExecMainCode=1 ExecMainStatus=0',
  }))
  t.strictSame(await units(), {
    scan: ['running', null, null], age: ['waiting', 0, null],
    serve: ['running', null, null], edge: ['stopped', 0, null],
  })
  t.notMatch((await run('show')).stdout, 'journalctl')
})

t.test('timers show tells a job whose newest run failed, until it has run well', async (t) => {
  const { run, world } = await here(t, true)
  const shown = async () => (await run('show --json')).json().last_failures
  await world.json(['shots', 'scan'])
  t.strictSame(await shown(), [])
  const [folder, elsewhere] = [world.folder, world.place.path('elsewhere')]
  renameSync(folder, elsewhere)
  t.not((await world.run(['shots', 'scan'])).status, 0)
  t.strictSame(await shown(), [{ job: 'scan', reason: 'folder_missing' }])
  t.match((await run('show')).stdout, /^last run   scan: \S+, failed \(folder_missing\)$/m)
  await world.json(['shots', 'config', 'set', '--folder', elsewhere])
  t.strictSame(await shown(), [{ job: 'scan', reason: 'folder_missing' }], 'of the scan it tells')
  renameSync(elsewhere, folder)
  await world.json(['shots', 'config', 'set', '--folder', folder])
  await world.json(['shots', 'scan'])
  t.strictSame(await shown(), [])
  t.notMatch((await run('show')).stdout, 'failed')
})

t.test('what a line of cron tells to type names state and keys, so that any shell can run it', async (t) => {
  const world = await World.in(t)
  const host = schedulers(world.place, { systemd: false })
  const flags = [
    '--state-dir', world.place.path('a state'), '--config-dir', world.place.path('its keys'),
  ]
  must(await world.run(['init', ...flags]))
  const program = ['/usr/bin/node', '/opt/sallyport']
  const made = await world.run(
    ['timers', 'install', '--with', 'cron', '--yes', '--json', ...flags],
    { ...host.options, self: { uid: 1, program } })
  t.equal(made.status, 0, made.stderr)
  const [line = ''] = made.json().entries
  const words = [...commandOf(line).matchAll(/'([^']*)'/g)].map(([, word = '']) => word)
  const ran = await world.run(words.slice(program.length), { env: {} })
  t.not(ran.status, 0)
  t.match(ran.stderr, `--state-dir '${world.place.path('a state')}'`)
  t.match(ran.stderr, `--config-dir '${world.place.path('its keys')}'`)
})

const foreignText = fc.array(fc.constantFrom('a', '\n', '#', ' ', '\u00e9', '\r', '%', '\0'))
  .map((parts) => parts.join(''))

t.test('whatever stands in a crontab, a block comes and goes without a trace', async (t) => {
  fc.assert(fc.property(foreignText, foreignText, (before, after) => {
    const lines = ['* * * * * one', '0 * * * * two']
    const made = withBlock('0a1b2c3d', before, lines)
    t.strictSame(cronLinesOf('0a1b2c3d', made), lines)
    t.equal(withoutBlock('0a1b2c3d', made), before)
    t.equal(withBlock('0a1b2c3d', made, lines), made)
    const gap = after === '' || before === '' || before.endsWith('\n') ? '' : '\n'
    t.equal(withoutBlock('0a1b2c3d', made + after), before + gap + after, 'later lines stay lines')
    t.equal(withoutBlock('ffffffff', made), made, 'another state’s lines stay')
  }), { numRuns: 50 })
  const made = withBlock('0a1b2c3d', '', ['x'])
  t.equal(codeOf(() => withoutBlock('0a1b2c3d', made + made)), 'crontab_altered')
  t.equal(codeOf(() => withoutBlock('0a1b2c3d', made.replace(/.*end\n/, ''))), 'crontab_altered')
})

t.test('an interval is written as a crontab can say it', async (t) => {
  t.strictSame([1, 2, 15, 59, 60, 120, 1_440].map(scheduleOf), [
    '* * * * *', '*/2 * * * *', '*/15 * * * *', '*/59 * * * *', '0 * * * *', '0 */2 * * *',
    '0 0 * * *',
  ])
})

t.test('an interval of analysis that is no whole minute is rounded up: no cron knows one of none', async (t) => {
  const { host, run, world } = await here(t, false)
  for (const [seconds, schedule] of [['30', '* * * * *'], ['90', '*/2 * * * *']] as const) {
    await world.json(['shots', 'config', 'set', '--analysis', 'on',
      '--analysis-interval-seconds', seconds])
    must(await run('install --yes'))
    const lines = readFileSync(host.tab, 'utf8').split('\n')
    const analyze = lines.find((line) => line.includes("'analyze'"))
    t.equal(analyze?.startsWith(`${schedule} '`), true, analyze ?? 'no line')
  }
})

t.test('who installs lines of cron that start less than those of before is told what goes on', async (t) => {
  const { run } = await here(t, false)
  const goesOn = async (words: string): Promise<boolean> => {
    const ran = await run(`install --yes ${words}`.trim())
    t.equal(ran.status, 0, ran.stderr)
    return ran.stderr.includes('Cron ends nothing that it started')
  }
  t.strictSame(
    [await goesOn('--serve'), await goesOn('--serve'), await goesOn(''), await goesOn('')],
    [false, false, true, false])
})
