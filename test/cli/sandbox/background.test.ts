/**
 * A sandbox in the background: it outlives command and terminal, one folder runs one, it is found
 * by where it lies, and `sandbox stop` ends it. `setup` starts one for a rehearsal.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { holdFreshFile } from '../../../src/state/holds/kernel-file.js'
import { converse, keys, needsScript, type Step } from '../../support/cli/pseudo-terminal.js'
import { typeFrom } from '../../support/docs/pages.js'
import { must } from '../../support/must.js'
import { lowPorts } from '../../support/sandbox/low-ports.js'
import { signalled } from '../../support/signalled.js'
import { patienceMs } from '../../support/speed.js'
import { t } from '../../support/tests-in-slices.js'
import { until } from '../../support/until.js'
import type { Place } from '../../world/place.js'
import { temporaryFolder } from '../../world/place.js'
import { World } from '../../world/world.js'

const isAlive = (pid: number): boolean => signalled(pid, 0)

/** Waits until a process that gave its lock back is gone. */
const isGone = async (pid: number): Promise<boolean> => {
  for (const until = Date.now() + patienceMs(); Date.now() < until; await sleep(20)) {
    if (!isAlive(pid)) return true
  }
  return false
}

const settingsIn = (dir: string): { readonly pid: number } =>
  JSON.parse(readFileSync(join(dir, 'sandbox.json'), 'utf8')) as { pid: number }

/** Whatever a test leaves running ends with it. */
const endAfter = (t: Test, dir: string): void => {
  t.teardown(() => {
    const { pid }: { pid?: number } =
      existsSync(join(dir, 'sandbox.json')) ? settingsIn(dir) : {}
    if (pid !== undefined) signalled(pid, 'SIGKILL')
  })
}

const startBehind = async (t: Test, place: Place, dir: string): Promise<number> => {
  endAfter(t, dir)
  const isNew = !existsSync(join(dir, 'sandbox.json'))
  const line = ['sandbox', 'start', '--background', '--dir', dir, '--json']
  for (let tried = 1; ; tried += 1) {
    if (isNew) await lowPorts(dir)
    const ran = await place.spawn(line)
    // Ports that were free may be taken by now.
    const isTaken = ran.status !== 0 && ran.stderr.includes('sandbox_port_taken')
    if (!isNew || !isTaken || tried === 3) return must(ran).json<{ pid: number }>().pid
  }
}

t.test('a sandbox in the background serves after its command has ended, and `sandbox stop` ends it', async (t) => {
  const { place } = World.in(t)
  const dir = place.path('box')
  const pid = await startBehind(t, place, dir)
  t.ok(isAlive(pid))
  t.equal(settingsIn(dir).pid, pid, 'the folder names the process')
  const status = must(await place.run(['sandbox', 'status', '--dir', dir, '--json']))
  t.equal(status.json<{ pid: number }>().pid, pid)
  const stopped = must(await place.run(['sandbox', 'stop', '--dir', dir, '--json']))
  t.strictSame(stopped.json(), { schema: 'sallyport.sandbox.stop.v1', dir, pid })
  t.ok(await isGone(pid))
  const again = await place.run(['sandbox', 'stop', '--dir', dir, '--json'])
  t.strictSame([again.status, again.error().code], [6, 'sandbox_not_running'])
  const next = await startBehind(t, place, dir)
  t.not(next, pid)
  const { stdout } = must(await place.run(['sandbox', 'stop', '--dir', dir]))
  t.equal(stdout, `The sandbox has ended (process ${next}).\n`)
  t.ok(await isGone(next))
})

t.test('a folder runs one sandbox: a second start is refused, in the background or not', async (t) => {
  const { place } = World.in(t)
  const dir = place.path('box')
  const pid = await startBehind(t, place, dir)
  for (const more of [[], ['--background']]) {
    const ran = await place.run(['sandbox', 'start', '--dir', dir, '--json', ...more])
    t.strictSame([ran.status, ran.error().code], [5, 'sandbox_running'], more.join(' '))
    t.match(ran.error().message, `process ${pid}`)
  }
  t.ok(isAlive(pid), 'the first one serves on')
  signalled(pid, 'SIGKILL')
  t.ok(await isGone(pid))
  const other = await startBehind(t, place, dir)
  t.ok(isAlive(other), 'what a killed one left keeps nobody from starting')
  must(await place.run(['sandbox', 'stop', '--dir', dir]))
})

t.test('a start in the background that cannot serve says so and leaves no process', async (t) => {
  const { place } = World.in(t)
  const dir = place.path('box')
  const pid = await startBehind(t, place, dir)
  must(await place.run(['sandbox', 'stop', '--dir', dir]))
  t.ok(await isGone(pid))
  const { sandbox } = await World.in(t).sandbox()
  const settings = JSON.parse(readFileSync(join(dir, 'sandbox.json'), 'utf8'))
  settings.ports.provider = sandbox.ports.provider
  writeFileSync(join(dir, 'sandbox.json'), JSON.stringify(settings))
  const ran = await place.spawn(['sandbox', 'start', '--background', '--dir', dir, '--json'])
  t.strictSame([ran.status, ran.error().code], [1, 'sandbox_not_started'])
  t.equal(ran.error().details.code, 'sandbox_port_taken')
  const strange = place.path('.')
  place.write('mine.txt', 'mine')
  const refused = await place.run(['sandbox', 'start', '--background', '--dir', strange, '--json'])
  t.equal(refused.error().code, 'sandbox_dir_not_empty')
})

t.test('a start in the background that another one overtakes is refused as a second one is', async (t) => {
  const { place } = World.in(t)
  const dir = place.path('box')
  const script = `console.error('{"code":"' + 'sandbox_running' + '"}'); process.exit(5)`
  const self = { uid: 1000, program: [process.execPath, '-e', script, '--'] }
  const line = ['sandbox', 'start', '--background', '--dir', dir]
  const ran = await place.run([...line, '--json'], { self })
  t.strictSame([ran.status, ran.error().code], [5, 'sandbox_running'])
  const ends = { uid: 1000, program: [process.execPath, '-e', 'process.exit(1)', '--'] }
  const { stderr } = await place.run(line, { self: ends })
  t.match(stderr, `sandbox start --dir ${dir}`, 'and not that of another folder')
})

t.test('who stops waiting for a start leaves no process, and one that does not end is told', async (t) => {
  const { place } = World.in(t)
  const pidFile = place.path('pid')
  const script = `setInterval(() => {}, 1000)
    require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`
  const stop = new AbortController()
  const self = { uid: 1000, program: [process.execPath, '-e', script, '--'] }
  const line = ['sandbox', 'start', '--background', '--dir', place.path('box'), '--json']
  const running = place.run(line, { self, stop: stop.signal })
  await Promise.race([running.then(({ stderr }) => { throw new Error(stderr) }),
    until('it runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '')])
  stop.abort()
  const ran = await running
  t.strictSame([ran.status, ran.error().code], [130, 'sandbox_start_stopped'])
  t.ok(await isGone(Number(readFileSync(pidFile, 'utf8'))))

  const dir = place.path('other')
  await World.in(t).sandbox({ dir })
  const held = await holdFreshFile(join(dir, 'running.lock'))
  t.teardown(() => held?.remove())
  let later = 0
  const clock: Clock = {
    ...systemClock, monotonicMs: () => systemClock.monotonicMs() + later,
    // Looking again takes as long as the verb waits in all; what its request waits for is as ever.
    sleep: async (ms, signal) => {
      if (ms !== 50) return systemClock.sleep(ms, signal)
      later += 11_000
    },
  }
  const still = await place.run(['sandbox', 'stop', '--dir', dir, '--json'], { clock })
  t.strictSame([still.status, still.error().code], [11, 'sandbox_still_ending'])
})

t.test('`doctor` names a sandbox that runs, and one that a state needs and that does not', async (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) }
  const { place } = World.in(t, { env })
  const dir = join(env.XDG_STATE_HOME, 'sallyport-sandbox')
  const told = async () => {
    const { checks } = (await place.run(['doctor', '--json'])).json<{
      checks: { name: string; text: string; next: string }[]
    }>()
    return checks.filter(({ name }) => name === 'sandbox').map(({ text, next }) => [text, next])
  }
  t.strictSame(await told(), [])
  const pid = await startBehind(t, place, dir)
  t.strictSame(await told(), [[
    `runs from ${dir}, process ${pid}`, 'End it with `sallyport sandbox stop`.',
  ]])
  must(await place.run(['init', '--profile', 'sandbox']))
  must(await place.run(['sandbox', 'stop']))
  t.strictSame(await told(), [[
    'this state is sealed for the sandbox, and none runs',
    'Start it with `sallyport sandbox start --background`.',
  ]])
})

const { enter, down, up, space } = keys
const yes = (at: string): Step => ({ at, keys: `y${enter}` })
const enterAt = (at: string): Step => ({ at, keys: enter })

/** But for the first choice and one bound Enter at each question, and each yes that is asked. */
const rehearsalSteps: readonly Step[] = [
  { at: 'Providers stay for good', keys: `${down}${enter}` }, yes('Log in'),
  yes('Set up questions'), enterAt('Longest answer'), enterAt('Longest wait'),
  enterAt('Ceiling of all routes'), { at: 'Bound for one question', keys: `${up}${enter}` },
  { at: 'question: (Enter:', keys: `0.06usd${enter}` },
  enterAt('API key (Enter takes that of the sandbox)'),
  yes('Enable the capability now'), yes('I acknowledge this plaintext'),
  yes('Set up the gateway'), enterAt('Ceiling of all routes'),
  ...['chat', 'report', 'screenshot'].flatMap((slot) => [
    enterAt('Slot to set up'), enterAt(`Model of ${slot}`), enterAt('Upstream hosts'),
    enterAt('Bound for one request'), enterAt('Longest wait'),
  ]),
  enterAt('Slot to set up'),
  enterAt('Gateway key (Enter takes that of the sandbox)'), yes('Enable the route now'),
  { at: 'Purposes to consent to', keys: `${`${space}${down}`.repeat(4)}${enter}` },
  yes('I acknowledge this cloud egress'), yes('Set up screenshots'),
  enterAt('Screenshots lie in'),
  yes('Have images analysed'), yes('Let whole images leave'), yes('Refuse fallbacks'),
  enterAt('Spend in any 24 hours'), enterAt('Requests in any 24 hours'),
  enterAt('Bound for one image'), enterAt('While a region keeps changing'),
  yes('Let jobs renew'), yes('Save this change'), yes('Prove every slot'),
]

t.test('by `setup` alone a rehearsal comes to an answer and the page of a day, and the tutorial goes on with it', {
  skip: needsScript,
}, async (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) }
  const world = await World.in(t, { env })
  const { place } = world
  const dir = join(env.XDG_STATE_HOME, 'sallyport-sandbox')
  endAfter(t, dir)
  const screens = join(place.env['HOME'] as string, 'sample-screens')
  const ended = await converse(t, world, 'setup', rehearsalSteps)
  t.equal(ended.status, 0, ended.shown)
  t.notMatch(ended.shown, 'Not done:')
  for (const line of [
    'sandbox start --background', 'init --profile sandbox', 'login',
    `--api-key-file ${join(dir, 'provider-api.key')}`, '--model gateway/acme/sees-1',
    `--api-key-file ${join(dir, 'gateway-api.key')}`, '--request-cost-bound 0.06usd',
    `sandbox samples ${screens}`, 'next     sallyport alpha ask', 'sallyport sandbox stop',
  ]) t.ok(ended.shown.replace(/\s*\\?\s*\n\s*/g, ' ').includes(line), `${line}: ${ended.shown}`)
  const { pid } = settingsIn(dir)
  t.ok(isAlive(pid), 'it outlived the command and its terminal')
  const asked = must(await place.run(['alpha', 'ask', '-'], { stdin: 'What is a sally port?' }))
  t.match(asked.stdout, 'Sandbox answer')
  t.equal((await world.json(['shots', 'config', 'show'])).folder.saved_folder, screens)
  must(await place.run(['shots', 'scan']))
  t.match(must(await place.run(['shots', 'analyze'])).stdout, '4 analysed')
  const page = place.path('today.html')
  must(await place.run(['shots', 'report', '--html', page]))
  t.match(readFileSync(page, 'utf8'), 'editor.png')
  await typeFrom(t, 'docs/tutorial.md', '4. Ask', {
    cwd: place.cwd, env: place.env, before: `keys='${dir}'\n`,
  })
  t.ok(await isGone(pid))
})

t.test('a later rehearsal is offered samples of its own, beside those of the one before', async (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) }
  const world = await World.in(t, { env })
    .sandbox({ dir: join(env.XDG_STATE_HOME, 'sallyport-sandbox') }).state().session()
  const before = join(world.place.env['HOME'] as string, 'sample-screens')
  mkdirSync(before, { recursive: true })
  const saved = await world.run(['shots', 'setup'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: ['six made-up ones, in ~/sample-screens-2', false, true],
  })
  t.equal(saved.status, 0, saved.stderr)
  t.match(saved.stderr.replace(/\s*\\?\s*\n\s*/g, ' '), `sandbox samples ${before}-2`)
  t.ok(existsSync(join(`${before}-2`, 'editor.png')))
  t.strictSame(readdirSync(before), [])
})

t.test('where the sandbox of a state does not run, the line that starts the one it is sealed for is told', async (t) => {
  const { place } = World.in(t)
  const beside = join(dirname(place.stateDir), 'sandbox')
  const pid = await startBehind(t, place, beside)
  must(await place.run(['init', '--profile', join(beside, 'profile.json')]))
  t.notMatch((await place.run(['status'])).stderr, 'does not run')
  must(await place.run(['sandbox', 'stop', '--dir', beside]))
  t.ok(await isGone(pid))
  t.match((await place.run(['status'])).stderr.replace(/\s*\\?\s*\n\s*/g, ' '),
    `sallyport sandbox start --background --dir ${beside}`)
})
