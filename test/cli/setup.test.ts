/**
 * `setup` leads a person through all of it: on a pseudo-terminal, as they meet it, against the
 * sandbox. Enter alone changes nothing; what it tells can be typed and does the same.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { purposeContents } from '../../src/gateway/consent-text.js'
import {
  columns, converse, keys, needsScript, type Ended, type Step,
} from '../support/cli/pseudo-terminal.js'
import { schedulers } from '../support/cli/schedulers.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { sha256 } from '../support/sha256.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { temporaryFolder } from '../world/place.js'
import { World, type Placed } from '../world/world.js'

const skip = needsScript
const { enter, down, space, interrupt } = keys

/** Every file of the deployment with its content. */
const digestOf = ({ place }: Placed): Record<string, string> =>
  Object.fromEntries([place.stateDir, place.configDir].filter((dir) => existsSync(dir))
    .flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(dir, name)).filter((path) => statSync(path).isFile())
      .map((path) => [path, sha256(readFileSync(path))])))

const enterThrough = async (t: Test, world: Placed): Promise<Ended> => {
  const before = digestOf(world)
  const ended = await converse(t, world, 'setup')
  t.equal(ended.status, 0, ended.shown)
  t.strictSame(digestOf(world), before, 'every byte is as it was')
  t.strictSame(ended.lines.filter((line) => line.length > columns), [], 'every line fits')
  t.match(ended.shown, 'Nothing was saved.')
  return ended
}

t.test('Enter through `setup` changes nothing where nothing is set up', { skip }, async (t) => {
  const none = World.in(t)
  const ended = await enterThrough(t, await none)
  t.match(ended.shown, 'Providers stay for good')
  t.match(ended.shown, 'Not done: state, session, alpha, gateway, shots, proof.')
  t.match(ended.shown.replace(/\s+/g, ' '), 'Enter leaves a step as it is, y takes it.')
  t.notOk(existsSync(none.place.stateDir))
  const begun = await World.in(t).sandbox().state().session()
  const { shown } = await enterThrough(t, begun)
  for (const asked of ['Set up questions', 'Set up the gateway', 'Set up screenshots']) {
    t.match(shown, asked)
  }
  t.notMatch(shown, 'Log in', 'what is done is not asked for')
})

t.test('what is asked on a terminal of 60 columns is broken between words', { skip }, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const told = async (words: string, at: Placed, steps: readonly Step[] = []) => {
    const { shown, lines } = await converse(t, at, words, steps, 60)
    t.strictSame(lines.filter((line) => line.length > 60), [], 'every line fits')
    return shown.replace(/\s+/g, ' ')
  }
  t.match(await told('setup', await World.in(t)),
    'Rehearse free, or use your own keys? Providers stay for good:')
  t.match(await told('setup', world), 'Set up screenshots: folder, what may leave it, budget (y/N)')
  const form = await told('gateway setup', world, [
    { at: 'Ceiling of all', keys: `${down}${enter}` },
    { at: 'Slot to set up', keys: `${down}${down}${enter}` },
    { at: 'Model of report', keys: `gateway/acme/text-1${enter}` },
    { at: 'Upstream hosts that may', keys: `a b${enter}` },
    { at: 'slash at most', keys: `\b\b\bacme-host${enter}` },
    enterAt('Bound for one'), enterAt('Longest wait'), enterAt('Slot to set up'),
    { at: 'Gateway key', keys: `MARK-gateway-key-0123456789${enter}` }, yes('Enable the route'),
    { at: 'Purposes to consent to', keys: interrupt },
  ])
  for (const text of [
    'Bound for one request of report:', 'digits, dots, dashes, one slash at most.',
    ...Object.values(purposeContents).slice(1, 3),
  ]) t.match(form, text)
})

t.test('Enter through `setup` changes nothing where all is set up, and tells it as done', {
  skip,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway().images(allowed)
  const { shown } = await enterThrough(t, world)
  t.match(shown, 'Go through what is done, too')
  t.notMatch(shown, 'Change ', 'nobody is asked about what stands')
  t.match(shown, /alpha +done +configured/)
  t.match(shown, /shots +done/)
  const again = await converse(t, world, 'setup', [yes('Go through what is done')])
  t.equal(again.status, 0, again.shown)
  for (const told of ['Change limits, key', 'Change models, limits', 'Change folder, gates']) {
    t.match(again.shown, told)
  }
  t.match(again.shown, 'Nothing was saved.')
  must(await world.run(['logout']))
  const nextDay = await converse(t, world, 'setup', [
    yes('Log in'), yes('Go through what is done'), enterAt('Change limits, key'),
  ])
  t.equal(nextDay.status, 0, nextDay.shown)
})

const yes = (at: string): Step => ({ at, keys: `y${enter}` })
const enterAt = (at: string): Step => ({ at, keys: enter })

const toSession: readonly Step[] = [
  { at: 'Providers stay for good', keys: `${down}${enter}` }, yes('Log in'),
]

const alphaSteps: readonly Step[] = [
  yes('Set up questions'), enterAt('Longest answer'), enterAt('Longest wait'),
  enterAt('Ceiling of all routes'), enterAt('Bound for one question:'),
  { at: 'API key (', keys: `MARK-provider-key-0123456789${enter}` },
  yes('Enable the capability now'), yes('I acknowledge this plaintext'),
]

const gatewaySteps: readonly Step[] = [
  yes('Set up the gateway'), enterAt('Ceiling of all routes'),
  { at: 'Slot to set up', keys: `${down.repeat(2)}${enter}` },
  { at: 'Model of screenshot', keys: `gateway/acme/sees-1${enter}` },
  { at: 'Upstream hosts', keys: `acme-host${enter}` },
  { at: 'Bound for one request', keys: `${down}${enter}` }, enterAt('Longest wait'),
  enterAt('Slot to set up'), enterAt('Model of chat'),
  { at: 'Upstream hosts', keys: `acme-host,other-host${enter}` },
  enterAt('Bound for one request'), { at: 'Longest wait', keys: `${down}${enter}` },
  { at: 'Slot to set up', keys: `${down.repeat(2)}${enter}` },
  { at: 'Gateway key', keys: `MARK-gateway-key-0123456789${enter}` },
  yes('Enable the route now'),
  { at: 'Purposes to consent to', keys: `${space}${down}${space}${enter}` },
  yes('I acknowledge this cloud egress'),
]

const shotsSteps = (folder: string): readonly Step[] => [
  yes('Set up screenshots'), { at: 'Screenshots lie in', keys: `${down}${enter}` },
  { at: 'Screenshot folder', keys: `${folder}${enter}` },
  yes('Have images analysed'), yes('Let whole images leave'), yes('Refuse fallbacks'),
  enterAt('Spend in any 24 hours'), enterAt('Requests in any 24 hours'),
  enterAt('Bound for one image'),
  { at: 'While a region keeps changing', keys: `${down}${enter}` },
  yes('Let jobs renew'), yes('Save this change'),
]

/** Two places beside one sandbox that runs where `init --profile sandbox` looks for it. */
const beside = async (t: Test) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) }
  const [led, typing] = [await World.in(t, { env }), await World.in(t, { env })]
  const stop = new AbortController()
  const runs = led.run(['sandbox', 'start', '--json'], { stop: stop.signal })
  t.teardown(async () => {
    stop.abort()
    await runs
  })
  await until('the sandbox runs', async () =>
    (await led.run(['sandbox', 'status', '--json'])).status === 0)
  return { led, typing }
}

/** The lines that were told, as a shell reads them. */
const typedIn = ({ shown }: Ended): readonly string[] =>
  [...shown.replaceAll('\r', '').replace(/ \\\n */g, ' ').matchAll(/^ *\$ sallyport (.+)$/gm)]
    .map(([, line = '']) => line)

const standing = async ({ json }: Placed) => {
  const [{ alpha_text: alpha }, { gateway }, { settings, folder }] = [
    await json(['alpha', 'show']), await json(['gateway', 'show']),
    await json(['shots', 'config', 'show']),
  ]
  const { status, reason_code: why, max_output_tokens: tokens, request_cost_bound_microusd: bound }
    = alpha
  return {
    alpha: { status, why, tokens, bound, ceiling: alpha.spend_ceiling_microusd },
    gateway: {
      enabled: gateway.enabled, ceiling: gateway.spend_ceiling_microusd,
      slots: Object.values(gateway.slots).map((slot) => {
        const { model, upstream_allow: hosts, request_cost_bound_microusd: held,
          timeout_seconds: seconds, consent_current: consented, proof } = slot as never as {
          [name: string]: unknown
          proof: { state: string }
        }
        return { model, hosts, held, seconds, consented, proof: proof.state }
      }),
    },
    settings, folder: folder.saved_folder,
  }
}

t.test('`setup` leads through all of it, and each line that it tells does the same when typed', {
  skip,
}, async (t) => {
  const { led, typing } = await beside(t)
  const folder = led.place.path("it's here")
  const all = [
    ...toSession, ...alphaSteps, ...gatewaySteps, ...shotsSteps(folder),
    yes('Prove every slot'), enterAt('Run scan, analysis'),
  ]
  const ended = await converse(t, led, 'setup', all)
  t.equal(ended.status, 0, ended.shown)
  t.strictSame(ended.lines.filter((line) => line.length > columns), [])
  t.match(ended.shown, 'Saved and kept: state, session, alpha, gateway, shots, proof.')
  t.notMatch(ended.shown, 'MARK-', 'no key is shown')
  const lines = typedIn(ended)
  t.equal(lines.length, 7, lines.join('\n'))
  const keyFile = typing.place.write('key file', 'MARK-some-key-0123456789\n')
  for (const line of lines) {
    t.notMatch(line, /--acknowledge|--yes/, 'no line consents by being typed')
    const asks = /^(alpha|gateway) setup/.test(line) ? [yes('I acknowledge')] : []
    const words = `${line.replace('KEYFILE', `'${keyFile}'`)} --no-pager`
    const typed = await converse(t, typing, words, asks)
    t.equal(typed.status, 0, `${line}: ${typed.shown.slice(-500)}`)
  }
  const stands = await standing(led)
  t.strictSame(await standing(typing), stands)
  t.equal(stands.folder, folder)
  t.strictSame(stands.gateway.slots.map(({ proof }) => proof), ['current', 'missing', 'current'])
})

t.test('a route that was left disabled is told as a line that leaves it so', { skip }, async (t) => {
  const { led, typing } = await beside(t)
  for (const world of [led, typing]) await converse(t, world, 'setup', toSession)
  const ended = await converse(t, led, 'gateway setup', [
    { at: 'Ceiling of all routes', keys: `${keys.up}${enter}` },
    ...gatewaySteps.slice(7, 13), enterAt('Gateway key'), enterAt('Enable the route now'),
    yes('Save this change'),
  ])
  const [line = ''] = typedIn(ended)
  t.match(line, '--disable')
  const typed = await converse(t, typing, `${line} --no-pager`)
  t.equal(typed.status, 0, typed.shown.slice(-500))
  for (const { json } of [led, typing]) {
    const { gateway } = await json(['gateway', 'show'])
    t.hasStrict(gateway, { enabled: false, spend_ceiling_microusd: 500_000 })
    t.hasStrict(gateway.slots.chat, { model: 'gateway/acme/text-1' })
  }
})

t.test('a form that was looked at and left as it was is not told as saved', { skip }, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const before = world.view().sequence
  const { status, shown } = await converse(t, world, 'setup', [
    yes('Go through what is done'), yes('Change limits, key'),
  ])
  t.equal(status, 0, shown)
  t.match(shown, 'Nothing changes; nothing is saved.')
  t.match(shown, 'Nothing was saved.')
  t.equal(world.view().sequence, before)
})

t.test('Ctrl-C at any question leaves what was saved and says what', { skip }, async (t) => {
  const { led } = await beside(t)
  const first = await converse(t, led, 'setup', [
    { at: 'Providers stay for good', keys: interrupt },
  ])
  t.equal(first.status, 130, first.shown)
  t.match(first.shown, 'You left. Nothing was saved.')
  t.notOk(existsSync(led.place.stateDir))
  const within = await converse(t, led, 'setup', [
    ...toSession, yes('Set up questions'), { at: 'Longest answer', keys: interrupt },
  ])
  t.equal(within.status, 130, within.shown)
  t.match(within.shown, 'You left. Saved and kept: state, session.')
  t.equal((await led.json(['alpha', 'show'])).alpha_text, null)
  const between = await converse(t, led, 'setup', [
    ...alphaSteps, { at: 'Set up the gateway', keys: interrupt },
  ])
  t.equal(between.status, 130, between.shown)
  t.match(between.shown, 'You left. Saved and kept: alpha.')
  const atOnce = await converse(t, led, 'setup', [
    { at: 'Go through what is done', keys: interrupt },
  ])
  t.equal(atOnce.status, 130, atOnce.shown)
  t.match(atOnce.shown, 'You left. Nothing was saved.')
  t.equal((await led.json(['alpha', 'show'])).alpha_text.status, 'configured')
})

t.test('a no to what a form would save leaves that step, and the others go on', { skip }, async (t) => {
  const { led } = await beside(t)
  const ended = await converse(t, led, 'setup', [
    ...toSession, ...alphaSteps.slice(0, -1), enterAt('I acknowledge this plaintext'),
    { at: 'Nothing was changed', keys: `${down}${enter}` },
    enterAt('Set up the gateway'), enterAt('Set up screenshots'),
  ])
  t.equal(ended.status, 0, ended.shown)
  t.match(ended.shown, 'Saved and kept: state, session.')
  t.equal((await led.json(['alpha', 'show'])).alpha_text, null)
})

const terminal = { stdin: true, stdout: true, stderr: true }

t.test('where all images are blocked `setup` says so, and names what sends them and no pass that would not', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ ...forImages, slots: ['screenshot'] }).images(allowed).proof('screenshot')
  const steps = async () => {
    const ran = await world.run(['setup', '--json'], { terminal, answers: Array(9).fill(false) })
    t.equal(ran.status, 0, ran.stderr)
    return ran.json()
  }
  await world.put(observationOf(world.folder, 'a.png', { observed_revision: 1 }))
  const { steps: told, next } = await steps()
  t.hasStrict(told.find(({ step }: { step: string }) => step === 'shots'), {
    done: true, told: 'configured; 1 image is blocked: `sallyport shots status`',
  })
  const sends = 'sallyport shots reanalyze --blocked --reason manual_operator_request'
  const pass = 'sallyport shots analyze'
  const named = (lines: readonly string[]) => lines.filter((line) => [sends, pass].includes(line))
  t.strictSame(named(next), [sends])
  await world.put(observationOf(world.folder, 'b.png', { analysis_status: 'pending' }))
  t.strictSame(named((await steps()).next), [pass],
    'a pass sends what waits for one')
})

t.test('where nobody can be asked `setup` is refused with the commands that do it', async (t) => {
  for (const options of [{ terminal }, {}]) {
    const ran = await World.in(t).place.run(['setup', '--no-input', '--json'], options)
    t.strictSame([ran.status, ran.error().code], [2, 'input_required'])
    t.strictSame(ran.error().next.map(({ command }: { command: string }) => command), [
      'init', 'login', 'alpha setup --help', 'gateway setup --help', 'shots setup --help',
      'gateway prove --all', 'timers install --help',
    ].map((line) => `sallyport ${line}`))
  }
})

t.test('who leaves is told by a code of its own what was saved', async (t) => {
  const world = await World.in(t).state()
  const leave = async (): Promise<never> => {
    throw Object.assign(new Error('left'), { name: 'ExitPromptError' })
  }
  const ran = await world.run(['setup', '--json'], { terminal, answers: [true, leave] })
  t.strictSame([ran.status, ran.error().code], [130, 'setup_left'])
  t.match(ran.error().message, 'Saved and kept: session.')
  t.equal(ran.stdout, '')
})

t.test('a step that does not succeed is told, and so is the status', async (t) => {
  const { place } = World.in(t)
  const ran = await place.run(['setup', '--json'], {
    terminal, answers: ['a rehearsal: a local sandbox'],
  })
  t.strictSame([ran.status, ran.error().code], [1, 'setup_incomplete'])
  t.match(ran.stderr, 'sallyport sandbox start', 'and what it said stands above')
  t.hasStrict(ran.json().steps[0], { step: 'state', done: false, failed: true })
  t.notOk(existsSync(place.stateDir))
})

t.test('the last step installs timers, for the state that was named', async (t) => {
  const world = await World.in(t).state().session()
  const host = schedulers(world.place, { systemd: true })
  const walk = (answers: readonly boolean[]) =>
    world.run(['setup', '--json', '--state-dir', world.place.stateDir], {
      ...host.options, terminal, answers: [...answers],
    })
  const without = await walk([false, false, false])
  t.hasStrict(without.json().steps.find(({ step }: { step: string }) => step === 'alpha'),
    { told: 'disabled: not set up' }, 'a reason is told in words')
  t.match(String(without.json().next), /^sallyport setup /,
    'timers are not asked for before there is a folder')
  mkdirSync(world.place.path('shots'))
  await world.json(['shots', 'config', 'set', '--folder', world.place.path('shots')])
  const ran = await walk([false, false, false, true, true])
  t.equal(ran.status, 0, ran.stderr)
  t.hasStrict(ran.json().steps.at(-1), { step: 'timers', done: true, told: 'systemd' })
  t.match(ran.stderr.replace(/ \\\n */g, ' '),
    `$ sallyport timers install --state-dir ${world.place.stateDir}`)
  t.match(ran.stderr, 'Saved and kept: timers.')
  t.ok(readdirSync(host.units).some((name) => name.endsWith('-scan.timer')))
  rmdirSync(world.place.path('shots'))
  const gone = (await walk([false, false, false, false])).json()
  t.hasStrict(gone.steps.find(({ step }: { step: string }) => step === 'shots'),
    { done: false, told: 'its folder is not there' })
  t.notMatch(String(gone.next), 'shots scan')
})
