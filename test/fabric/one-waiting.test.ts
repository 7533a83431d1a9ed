/** What waits, what was spent and what a row of a capability says: one answer at every face. */
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import type { Test } from 'tap'
import type { Loose } from '../world/place.js'
import type { Images } from '../world/images.js'
import { fail } from '../../src/base/errors.js'
import { offerPairing } from '../../src/edge/pairing.js'
import type { Capability } from '../../src/governance/capability.js'
import { putStop } from '../../src/state/stop-folder.js'
import { notePause } from '../../src/gateway/call/pause.js'
import { collections } from '../../src/governance/rows.js'
import type { Waiting } from '../../src/governance/waiting.js'
import { newId } from '../../src/base/ids.js'
import { capabilities } from '../../src/fabric/capabilities.js'
import { waitingOf } from '../../src/fabric/waiting.js'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { newestTask } from '../support/board.js'
import { hour, movedClock } from '../support/clock.js'
import { connectionOf, type Working } from '../support/codehost/working.js'
import { cameraOf, takeIn } from '../support/edge/captured.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { image } from '../support/png.js'
import { processWorld, serving } from '../support/service/serving.js'
import { taskAt } from '../support/tasks.js'
import { t } from '../support/tests-in-slices.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'
import { stopsDirOf } from '../support/stops-dir.js'

type Rich = Working & Images

const held = (world: Working, owner: string): Promise<string> => world.transact((tx) => {
  const operation_id = newId('op')
  tx.put(collections.openReservations, operation_id, {
    operation_id, runtime: 'alpha_text', profile: 'p', task_id: null, principal: owner,
    bound_microusd: 1, state: 'unknown', charged_microusd: null, overrun: 'none', row_ids: [],
    updated_at: new Date(world.clock.wallMs()).toISOString(),
  })
  return operation_id
})

/** A pairing that the owner who is logged in has begun. */
const pairing = (world: Rich) =>
  offerPairing({ ...world.gov, store: world.open('write') }, world.session(), {
    origin: 'https://127.0.0.1:1', pin: 'sha256/x',
  })

/** A world in which something of every capability waits. */
const rich = async (t: Test): Promise<Rich> => {
  const begun = await World.in(t, { clock: movedClock() }).sandbox().state().session()
    .alpha()
    .gateway({ slots: ['report', 'screenshot'] }).images(allowed)
  const world = await connectionOf(begun) as Rich
  await taskAt(world, world.session(), 'succeeded')
  await held(world, world.session().principal.principal_id)
  await world.prepare()
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  const row = world.rows()[0]
  if (row === undefined) throw new Error('nothing was scanned')
  await world.put({
    ...row, analysis_status: 'failed', analyzer: { ...row.analyzer, reason: 'http_status_500' },
  })
  await world.transact((tx, now) => {
    notePause(tx, now, 'screenshot', {
      operation_id: newId('op'), reason: 'http_status_402', status: 402, retryAfter: null,
    })
    const setup = tx.get(alphaSetupCollection, 'the')
    if (setup === undefined) throw new Error('the text route is set up')
    tx.put(alphaSetupCollection, 'the', { ...setup, credential_fingerprint: 'another' })
  })
  await pairing(world)
  return world
}

const of = (waiting: readonly Waiting[]): readonly string[] =>
  waiting.map((one) => `${one.of} ${one.what}`)

t.test('`status`, GET /api/status and the overview behind the page tell the same of what waits, of the day and of the last runs', async (t) => {
  const world = await rich(t)
  const at = await serving(t, world)
  const status = await world.json(['status'])
  t.strictSame(of(status.waiting), [
    'ledger unknown_charge', 'tasks review', 'alpha capability', 'shots images', 'shots pause',
    'codehost job', 'edge pairing',
  ])
  t.equal(status.waiting_for, world.session().principal.name)
  const { waiting, waiting_for, day, last_runs } = await at.get('/api/status')
  t.strictSame({ waiting, waiting_for, day, last_runs }, {
    waiting: status.waiting, waiting_for: status.waiting_for, day: status.day,
    last_runs: status.last_runs,
  })
  const overview = await at.get('/api/overview')
  t.strictSame(overview.waiting, status.waiting)
  t.strictSame(overview.day, status.day)
  const { remote_vision: { budget } } = await world.json(['shots', 'status'])
  t.hasStrict(budget, status.day)
  const { report } = await world.json(['shots', 'report'])
  t.equal(report.course.spend.spent_microusd, status.day.settled_microusd)
  t.equal(report.course.spend.requests, status.day.requests)
})

t.test('the text of `status` has one row of all that waits, each with its command, and no line wider than a terminal of 80 columns', async (t) => {
  const world = await rich(t)
  const { stdout } = must(await world.run(['status'], {
    terminal: { stdout: true }, columns: 80,
  }))
  const lines = stdout.split('\n')
  const at = lines.findIndex((line) => line.startsWith('waits for you'))
  t.equal(lines[at], 'waits for you: 7')
  t.strictSame(lines.filter((line) => line.startsWith('waits for you')).length, 1)
  t.strictSame(lines.filter((line) => line.length > 80), [])
  const { waiting } = await world.json(['status'])
  const told = lines.slice(at).join(' ').replaceAll('\\', '').replace(/\s+/g, ' ')
  for (const { command } of waiting) t.ok(told.includes(command), command)
})

t.test('a pending stop is told until the next command that writes records it', async (t) => {
  const world = await World.in(t).state().session()
  const stopsDir = stopsDirOf(world.open())
  putStop(stopsDir, {
    id: newId('stp'), kind: 'root', target: newId('root'), at: '2026-11-20T10:00:00.000Z',
    by: { principal: null, root: null, verb: 'session revoke' },
  })
  const waits = async () => of((await world.json(['status'])).waiting)
  t.strictSame(await waits(), ['policy stop'])
  must(await world.run(['goal', 'add', 'a', '--json']))
  t.strictSame(await waits(), [])
})

t.test('A-009 another owner is told nothing of what is one owner\'s alone, and whoever is not logged in no id at all', async (t) => {
  const world = await rich(t)
  const told = async () => JSON.stringify((await world.json(['status'])).waiting)
  const own = await told()
  const ids = [...own.matchAll(/\b(?:task|op|job|cnn)_[0-9a-f-]{36}/g)].map(([id]) => id)
  t.equal(ids.length, 3)
  must(await world.run(['logout', '--json']))
  const nobody = await world.json(['status'])
  t.equal(nobody.waiting_for, null)
  t.strictSame(of(nobody.waiting), [
    'ledger unknown_charge', 'alpha capability', 'shots images', 'shots pause',
  ])
  t.notMatch(JSON.stringify(nobody.waiting), /(?:task|op|job)_[0-9a-f-]{36}/)
  t.match(must(await world.run(['status'])).stdout,
    /^waits for you: 4; log in to see what is yours alone: sallyport login$/m)
  must(await world.run(['login', '--json']))
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file, '--json']))
  // The one of before died with its session.
  await pairing(world)
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file, '--json']))
  const bobs = await told()
  for (const id of ids) t.notOk(bobs.includes(id), id)
  t.strictSame(of(JSON.parse(bobs)), ['alpha capability', 'shots images', 'shots pause'])
  const at = await serving(t, world)
  t.equal(JSON.stringify((await at.get('/api/overview')).waiting), bobs)
})

t.test('a job that waits is told once, and not as a blocked task besides', async (t) => {
  const world = await connectionOf(
    await World.in(t, { clock: movedClock() }).sandbox().state().session())
  const job = await world.approved()
  world.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await world.runJob(job)
  t.equal(world.job(job).state, 'unknown_external_effect')
  const { waiting, tasks } = await world.json(['status'])
  t.strictSame(tasks, { blocked: 1 })
  t.strictSame(of(waiting), ['codehost job'])
  t.match(waiting[0].command, job)
})

t.test('the consent of a connection that has run out is told with the line that gives it anew', async (t) => {
  const world = await connectionOf(
    await World.in(t, { clock: movedClock() }).sandbox().state().session())
  t.strictSame((await world.json(['status'])).waiting, [])
  world.clock.advance(2 * hour)
  must(await world.run(['login', '--json']))
  const { waiting } = await world.json(['status'])
  t.strictSame(of(waiting), ['codehost consent'])
  t.match(waiting[0].command, `sallyport codehost consent ${world.id} --action`)
})

t.test('the consent of a connection that a job occupies is not told to be given anew, for it would be refused', async (t) => {
  const world = await connectionOf(
    await World.in(t, { clock: movedClock() }).sandbox().state().session())
  const job = await world.approved()
  world.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await world.runJob(job)
  world.sandbox.faults.clear()
  t.hasStrict(world.job(job), { state: 'unknown_external_effect', reserved: true })
  world.clock.advance(2 * hour)
  must(await world.run(['login', '--json']))
  t.strictSame(of((await world.json(['status'])).waiting), ['codehost job'])
})

t.test('`status` counts blocked images, and says why, as `shots status` does: by what stands in their way now', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  must(await world.run(['shots', 'config', 'set', '--analysis', 'on', '--json']))
  const both = async (): Promise<Loose> => {
    const { shots, waiting } = await world.json(['status'])
    const { analysis } = (await world.json(['shots', 'status'])).screenshot_folder
    return {
      status: [shots.reason_code, Number.parseInt(shots.reason ?? '0', 10)],
      shots: [analysis.blocked_reasons[0]?.reason ?? null, analysis.status_mix.blocked],
      waiting: waiting.filter(({ what }: Waiting) => what === 'images').length,
    }
  }
  const before = await both()
  t.strictSame(before['status'], before['shots'])
  t.strictSame(before['status'], ['cloud_upload_off', 1], 'not the reason that was stored')
  const other = world.place.path('other')
  mkdirSync(other)
  must(await world.run(['shots', 'config', 'set', '--folder', other, '--json']))
  t.strictSame(await both(), { status: [null, 0], shots: [null, 0], waiting: 0 })
})

t.test('images that stay here by choice are no blocked ones of `status`: what somebody chose is no fault', async (t) => {
  const world = await World.in(t).state().session().images()
  must(await world.run(['shots', 'config', 'set', '--analysis', 'on', '--json']))
  const told = async (): Promise<unknown> => {
    const { shots } = await world.json(['status'])
    const { analysis } = (await world.json(['shots', 'status'])).screenshot_folder
    return [shots.status, shots.reason_code, shots.reason ?? null, analysis.blocked_next]
  }
  const blocked = (name: string, reason: string) => {
    const row = observationOf(world.folder, name)
    return { ...row, analyzer: { ...row.analyzer, reason } }
  }
  await world.put(blocked('held.png', 'unsettled'), blocked('held-too.png', 'unsettled'))
  const camera = await cameraOf(world)
  await camera.store(image(2))
  await takeIn(world)
  t.strictSame(await told(), ['configured', null, null, null])
  await world.put(blocked('cut.png', 'image_truncated'))
  const [status, reason, text, next] = await told() as string[]
  t.strictSame([status, reason], ['blocked', 'image_truncated'])
  t.match(text, /^1 image is blocked/)
  t.match(next, '--reason manual_operator_request', 'what helps those that wait')
})

t.test('what a revoke ended waits with the line that consents anew once its route is open again', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ slots: ['report', 'screenshot'] })
  must(await world.run(['policy', 'revoke']))
  t.hasStrict((await world.json(['status'])).waiting,
    [{ of: 'policy', what: 'policy', command: 'sallyport setup' }])
  const opened = async (...more: readonly string[]): Promise<readonly string[]> => {
    const { policy_revision: revision } = await world.json(['gateway', 'show'])
    must(await world.run(['gateway', 'setup', ...more, '--acknowledge', '--expected-revision',
      String(revision)]))
    return (await world.json(['status'])).waiting.map(({ command }: Waiting) => command)
  }
  t.strictSame(await opened('--enable'), [
    'sallyport gateway setup --consent gateway.report',
    'sallyport gateway setup --consent gateway.digest',
    'sallyport gateway setup --consent gateway.vision',
  ])
  t.strictSame(await opened('--consent', 'gateway.vision'), [], 'whoever gave one back has chosen')
})

t.test('digests that a job is to write and cannot are told with the line that opens them', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ slots: ['screenshot'] }).images(allowed)
  t.strictSame((await world.json(['status'])).waiting, [], 'no job of digests ever ran')
  must(await world.run(['shots', 'digest', '--json']))
  t.hasStrict((await world.json(['status'])).waiting, [{
    of: 'shots', what: 'run',
    command: 'sallyport gateway setup --slot report --model M --upstream-allow SLUG '
      + '--consent gateway.digest',
  }])
  const told = async (env: Record<string, string> = {}): Promise<readonly string[]> =>
    of((await world.json(['status'], { env })).waiting)
  t.strictSame(await told({ SCREENSHOT_FOLDER_INGEST_LIMIT: 'x' }), ['shots run'],
    'a variable of another job hides nothing')
  must(await world.run(['policy', 'revoke']))
  t.strictSame(await told(), ['policy policy'], 'a revoke is told once')
  must(await world.run(['shots', 'setup', '--cloud-upload', 'off', '--json']))
  must(await world.run(['gateway', 'setup', '--enable', '--consent', 'gateway.vision',
    '--acknowledge', '--expected-revision',
    String((await world.json(['gateway', 'show'])).policy_revision)]))
  t.strictSame(await told(), [], 'what a person switched off waits for nobody')
  must(await world.run(['shots', 'setup', '--cloud-upload', 'on', '--json']))
  t.strictSame(await told(), ['shots run'])
  must(await world.run(['shots', 'setup', '--digest-enabled', 'off', '--json']))
  t.strictSame(await told(), [], 'nor is one to run')
})

t.test('a scan that failed is the last run that failed, until one goes well', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  t.strictSame((await world.json(['status'])).waiting.length, 1, 'the image itself')
  const away = `${world.folder}-away`
  renameSync(world.folder, away)
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 3)
  const [run] = (await world.json(['status'])).waiting
  t.hasStrict(run, {
    of: 'shots', what: 'run', text: 'The last run of scan failed (folder_missing).',
    command: 'sallyport shots status',
  })
  renameSync(away, world.folder)
  must(await world.run(['shots', 'scan', '--json']))
  t.strictSame((await world.json(['status'])).waiting.length, 1)
})

t.test('rows of one capability that cannot be read hide nothing of the others', async (t) => {
  const world = await World.in(t).state().session()
  const [first, ...others] = capabilities
  if (first === undefined) throw new Error('there is one')
  const unread: Capability = {
    ...first,
    waiting: async () => () => {
      throw fail.damaged('row_damaged', 'A row is damaged.', {})
    },
  }
  const told: Capability = {
    ...first,
    name: 'told',
    waiting: async () => () =>
      [{ what: 'capability', count: 1, text: 'One.', command: 'sallyport status' }],
  }
  const looking = {
    gov: world.gov, view: world.view(), session: world.session(),
    world: processWorld(world, new AbortController().signal),
  }
  t.strictSame(await waitingOf(looking, [unread, told, ...others]), [
    { of: 'alpha', what: 'unread', count: 1, command: 'sallyport state check',
      text: 'What of alpha waits could not be read (row_damaged).' },
    { of: 'told', what: 'capability', count: 1, text: 'One.', command: 'sallyport status' },
  ])
})

t.test('a result of a session that has ended is led to what takes it over, not to a line that refuses', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  must(await world.run(['alpha', 'ask', '-'], { stdin: 'What is a postern?' }))
  const told = async () => (await world.json(['status'])).waiting
    .filter(({ what }: Waiting) => what === 'review').map(({ command }: Waiting) => command)
  const [reads = ''] = await told()
  t.match(reads, /^sallyport (alpha|task) show /)
  must(await world.run(['logout']))
  must(await world.run(['login']))
  t.strictSame(await told(), ['sallyport task recover --all'])
  const { task_id: id, goal_id: goal } = newestTask(world)
  const explained = async () => (await world.json(['explain', id])).rows[0].next
  t.strictSame(await explained(), [`sallyport task recover ${id}`, `sallyport task show ${id}`])
  must(await world.run(['task', 'recover', '--all']))
  t.strictSame(await told(), [reads])
  must(await world.run(['login', '--json', '--token-file', 'other.token']))
  const session = readFileSync(world.place.path('other.token'), 'utf8').trim()
  const seen = (await world.json(['status'], { env: { SALLYPORT_SESSION: session } })).waiting
    .find(({ what }: Waiting) => what === 'review')
  t.match(seen.command, /^sallyport task show task_/, 'nothing is taken from a session that lives')
  must(await world.run(['logout']))
  must(await world.run(['login']))
  await world.transact((tx) => tx.remove(collections.goals, goal))
  t.strictSame([await told(), await explained()],
    [[`sallyport task show ${id}`], [`sallyport task show ${id}`]], 'nobody can take it over')
})
