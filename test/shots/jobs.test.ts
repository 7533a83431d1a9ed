/** The scheduler: intervals by a clock that is driven by hand, receipts by their names. */
import { fail } from '../../src/base/errors.js'
import { jobNames, type JobName } from '../../src/shots/constants.js'
import {
  runJobs, runOnce, schedulerJobs, type Job, type JobTurn,
} from '../../src/shots/jobs.js'
import { unsetSettings, resolveSettings, settingsCollection, settingsId }
  from '../../src/shots/source/settings.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { collections } from '../../src/governance/rows.js'
import { shotsRun } from '../../src/shots/jobs-contract.js'
import { must } from '../support/must.js'
import { greyPng } from '../support/png.js'
import { digestReceiptOf } from '../support/receipts.js'
import { take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type ImageWorld } from '../world/world.js'

/** Stands still until everybody sleeps; then moves to the nearest waking. */
const drivenClock = () => {
  let now = 0
  return {
    wallMs: () => Date.UTC(2026, 10, 20, 10) + now,
    monotonicMs: () => now,
    async sleep(ms: number, signal?: AbortSignal) {
      await new Promise((resolve) => setImmediate(resolve))
      if (signal?.aborted === true) throw new Error('woken')
      now += ms
    },
  }
}

const minute = 60_000

/** The scheduler's jobs with other work: when each began, in minutes. */
const record = (
  world: ImageWorld, env: Record<string, string>, untilMin: number,
  work: Partial<Record<JobName, () => Promise<void>>> = {},
) => {
  const clock = drivenClock()
  const stop = new AbortController()
  const base = world.ctx('write')
  const ctx: ShotsContext = {
    ...base, env: { ...base.env, ...env }, signal: stop.signal, gov: { ...base.gov, clock },
  }
  const began = new Map<JobName, number[]>(jobNames.map((name) => [name, []]))
  const turns: JobTurn[] = []
  const jobs: Job[] = schedulerJobs.map((job) => ({
    ...job,
    run: async () => {
      if (clock.monotonicMs() >= untilMin * minute) stop.abort()
      else began.get(job.name)?.push(clock.monotonicMs() / minute)
      await work[job.name]?.()
      return digestReceiptOf()
    },
  }))
  const run = () => runJobs(ctx, (turn) => turns.push(turn), jobs)
  return { ctx, jobs, began, turns, clock, stop, run }
}

/** A place that gives one job no turn: it does not answer. */
const awayFor = (ctx: ShotsContext, away: JobName): ShotsContext => {
  const { store } = ctx.gov
  const holds: typeof store.holds = {
    ...store.holds,
    tryTurn: async (job) => {
      if (job !== away) return store.holds.tryTurn(job)
      throw fail.locked('place_unreachable', 'It does not answer.')
    },
  }
  const gone = new Proxy(store, {
    get: (target, name) => {
      const found: unknown = name === 'holds' ? holds : Reflect.get(target, name, target)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
  return { ...ctx, gov: { ...ctx.gov, store: gone } }
}

t.test('S-127 S-129 S-134 S-139 the three jobs run on their default intervals: 1 minute, 60 seconds, 15 minutes', async (t) => {
  const world = await World.in(t).state().session().images()
  const { began, run, turns } = record(world, {}, 31)
  await run()
  t.strictSame([...began.keys()], [
    'screenshot_folder_ingest', 'screenshot_folder_analysis', 'screenshot_observation_digest',
  ])
  const everyMinute = Array.from({ length: 31 }, (_, i) => i)
  t.strictSame(began.get('screenshot_folder_ingest'), everyMinute)
  t.strictSame(began.get('screenshot_folder_analysis'), everyMinute)
  t.strictSame(began.get('screenshot_observation_digest'), [0, 15, 30])
  t.ok(turns.every(({ outcome }) => outcome === 'done'))
})

t.test('S-129 S-134 S-139 an override of each interval is followed', async (t) => {
  const world = await World.in(t).state().session().images()
  const { began, run } = record(world, {
    SCREENSHOT_FOLDER_INGEST_INTERVAL_MIN: '3',
    SCREENSHOT_FOLDER_ANALYSIS_INTERVAL_SECONDS: '30',
    SCREENSHOT_OBSERVATION_DIGEST_INTERVAL_MIN: '4',
  }, 9)
  await run()
  t.strictSame(began.get('screenshot_folder_ingest'), [0, 3, 6])
  t.strictSame(began.get('screenshot_folder_analysis'), Array.from({ length: 18 }, (_, i) => i / 2))
  t.strictSame(began.get('screenshot_observation_digest'), [0, 4, 8])
})

t.test('S-128 S-138 ingest and digest are on unless they are switched off; then no tick of theirs runs', async (t) => {
  const world = await World.in(t).state().session().images()
  const settings = resolveSettings(world.view(), {})
  t.hasStrict(settings, { ingestEnabled: { value: true, source: 'default' },
    digestEnabled: { value: true, source: 'default' } })
  const { began, run, turns } = record(world, {
    SCREENSHOT_FOLDER_INGEST_ENABLED: 'disabled', SCREENSHOT_OBSERVATION_DIGEST_ENABLED: 'false',
  }, 16)
  await run()
  t.strictSame(began.get('screenshot_folder_ingest'), [])
  t.strictSame(began.get('screenshot_observation_digest'), [])
  t.ok((began.get('screenshot_folder_analysis') ?? []).length > 10)
  t.ok(turns.some(({ job, outcome }) =>
    job === 'screenshot_folder_ingest' && outcome === 'disabled'))
  world.file('a.png', greyPng(64, 48, 1))
  const off = { SCREENSHOT_FOLDER_INGEST_ENABLED: 'disabled' }
  const once = await world.run(['shots', 'run', '--once', '--json'], { env: off })
  t.hasStrict(JSON.parse(once.stdout.split('\n')[0] ?? ''), { outcome: 'disabled' })
  t.strictSame(world.rows(), [])
  const watch = await world.run(['shots', 'watch', '--json'], { env: off })
  t.equal(watch.status, 7)
  t.equal(watch.error().code, 'ingest_off')
})

t.test('S-127 a job that fails does not stop the others and comes again', async (t) => {
  const world = await World.in(t).state().session().images()
  const { began, run, turns } = record(world, {}, 4, {
    screenshot_folder_ingest: async () => {
      throw fail.rejected('folder_missing', 'Not there.')
    },
  })
  await run()
  t.strictSame(began.get('screenshot_folder_ingest'), [0, 1, 2, 3])
  t.strictSame(began.get('screenshot_folder_analysis'), [0, 1, 2, 3])
  const failed = turns.filter(({ outcome }) => outcome === 'failed')
  t.ok(failed.length >= 4 && failed.every(({ error }) => error?.code === 'folder_missing'))
})

t.test('S-127 a damaged state or a defect ends the scheduler, after the turns under way', async (t) => {
  const world = await World.in(t).state().session().images()
  const { run } = record(world, {}, 10, {
    screenshot_folder_analysis: async () => {
      throw fail.damaged('log_damaged', 'The log is damaged.')
    },
  })
  await t.rejects(run(), { code: 'log_damaged' })
})

t.test('S-129 of one job there is never a second turn at once, here or in another process', async (t) => {
  const world = await World.in(t).state().session().images()
  let open = 0
  let most = 0
  const slow = record(world, {}, 8, {
    screenshot_folder_ingest: async () => {
      open += 1
      most = Math.max(most, open)
      for (let i = 0; i < 25; i += 1) await new Promise((resolve) => setImmediate(resolve))
      open -= 1
    },
  })
  await slow.run()
  t.equal(most, 1)
  const [job] = schedulerJobs
  if (job === undefined) throw new Error('no job')
  let inner: JobTurn | null = null
  const held: Job = {
    ...job,
    run: async (ctx) => {
      const other: Job = { ...job, run: async () => {
        throw new Error('it must not run')
      } }
      await runOnce({ ...ctx, gov: world.ctx('write').gov }, (turn) => { inner = turn }, [other])
      return digestReceiptOf()
    },
  }
  t.hasStrict(await runOnce(world.ctx('write'), () => undefined, [held]), [{ outcome: 'done' }])
  t.hasStrict(inner, { outcome: 'busy', receipt: null })
})

t.test('S-127 S-142 shots run --once gives each job one turn with its own receipt, named exactly', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  const ran = await world.run(['shots', 'run', '--once', '--json'])
  const lines = ran.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))
  t.strictSame(lines.slice(0, 3).map(({ job, receipt }) => [job, receipt?.job]), [
    ['screenshot_folder_ingest', 'screenshot_folder_ingest'],
    ['screenshot_folder_analysis', 'screenshot_folder_analysis'],
    ['screenshot_observation_digest', 'screenshot_observation_digest'],
  ])
  t.hasStrict(lines[0].receipt, { ingested: 1, scanned: 1 })
  t.strictSame(lines[3], { schema: 'sallyport.shots.run.v1', event: 'stopped' })
  const text = await world.run(['shots', 'run', '--once'])
  t.match(text.stdout, /screenshot_folder_ingest: done: limit 100, scanned 1, .*known 1/)
  const read = await world.run(['shots', 'run', '--once'], {
    terminal: { stdin: true, stdout: true, stderr: true },
  })
  t.equal(read.stdout, [
    'now take in: done: scanned 1, duplicate 1, known 1',
    'now analyse: done; 1 stand blocked (1 analysis_off)', 'now digest: done', 'stopped', '',
  ].join('\n'))
})

t.test('a call that the scheduler orders is recorded as a job, one that a person orders is not', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  const faces = () => {
    const view = world.view()
    const audited = view.all(collections.audit)
      .filter(({ doc }) => doc.what === 'gateway.analyze_ended').map(({ doc }) => doc.facts['face'])
    const asked = view.all(collections.decisions)
      .filter(({ doc }) => doc.request['purpose'] === 'gateway.vision')
      .map(({ doc }) => doc.request['face'])
    return { audited: new Set(audited), asked: new Set(asked) }
  }
  const before = faces()
  world.file('a.png', greyPng(64, 48, 1))
  const once = await world.run(['shots', 'run', '--once', '--json'])
  t.equal(once.status, 0, once.stderr)
  const job = faces()
  t.notOk(before.audited.has('job') || before.asked.has('job'), 'the proof was a person’s')
  t.ok(job.audited.has('job') && job.asked.has('job'))
  world.file('b.png', greyPng(64, 48, 2))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  t.equal((await world.run(['shots', 'analyze', '--json'])).status, 0)
  t.ok(faces().audited.has('cli'))
})

t.test('S-127 a turn that cannot be taken is in the exit status of --once and the others are taken', async (t) => {
  const world = await World.in(t).state().session().images()
  const { place } = world
  const ran = await world.run(['shots', 'run', '--once', '--json'], {
    env: { SVC_SCREENSHOT_FOLDER: place.path('nowhere') },
  })
  const lines = ran.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))
  t.hasStrict(lines[0], { outcome: 'failed', error: { code: 'folder_missing' } })
  t.equal(lines.length, 4)
  t.equal(ran.status, 3)
})

const digests = 'screenshot_observation_digest'

t.test('S-127 a place that does not answer keeps a turn from being taken and ends no scheduler', async (t) => {
  const world = await World.in(t).state().session().images()
  const { ctx, jobs, stop, clock, began } = record(world, {}, 31)
  const turns: JobTurn[] = []
  await runJobs(awayFor(ctx, digests), (turn) => turns.push(turn), jobs)
  t.strictSame(began.get('screenshot_folder_analysis')?.length, 31)
  t.ok(clock.monotonicMs() >= 31 * minute && stop.signal.aborted)
  const failed = turns.filter(({ outcome }) => outcome === 'failed')
  t.strictSame(failed.map(({ job, receipt, error }) => [job, receipt, error?.code]),
    Array.from({ length: 3 }, () => [digests, null, 'place_unreachable']))
  const once = await runOnce(awayFor(record(world, {}, 31).ctx, digests), () => undefined, jobs)
  t.strictSame(once.map(({ outcome }) => outcome), ['done', 'done', 'failed'])
})

t.test('S-127 S-142 what a turn paid is told by --once although a later one could not be taken', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await world.prove('screenshot'))
  await take(world, 'a.png')
  const receipt = must(await world.run(['shots', 'analyze', '--json'])).json()
  const turn = { at: '2026-11-20T10:00:00.000Z', receipt: null, error: null } as const
  const analysed: JobTurn = {
    ...turn, job: 'screenshot_folder_analysis', outcome: 'done', receipt,
  }
  const error = fail.locked('place_unreachable', 'It does not answer.')
  const away: JobTurn = { ...turn, job: digests, outcome: 'failed', error }
  t.hasStrict(shotsRun.failure({ ended: [analysed, away] }), {
    kind: 'partial', code: 'place_unreachable', details: { analyzed: 1 },
  })
  t.hasStrict(shotsRun.failure({ ended: [away] }), { kind: 'locked' })
})

t.test('S-127 S-138 a variable that makes no sense stops its own job alone', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await world.prove('screenshot'))
  world.file('a.png', greyPng(64, 48, 1))
  const env = { SCREENSHOT_OBSERVATION_DIGEST_WINDOW_MIN: 'half' }
  const ran = await world.run(['shots', 'run', '--once', '--json'], { env })
  const lines = ran.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))
  t.hasStrict(lines[0], { outcome: 'done', receipt: { ingested: 1 } })
  t.hasStrict(lines[1], { outcome: 'done', receipt: { analyzed: 1 } })
  t.hasStrict(lines[2], {
    job: digests, outcome: 'failed', receipt: null, error: { code: 'setting_invalid' },
  })
  t.strictSame([ran.status, ran.error().code], [13, 'setting_invalid'], 'one image was paid for')
  t.equal((await world.run(['shots', 'digest', '--json'], { env })).status, 3)
  must(await world.run(['shots', 'scan', '--json'], { env }))
  must(await world.run(['shots', 'analyze', '--json'], { env }))
  const { began, run, turns } = record(world, { SCREENSHOT_FOLDER_INGEST_INTERVAL_MIN: '0' }, 16)
  await run()
  t.strictSame([...began.values()].map(({ length }) => length), [0, 16, 2], 'the others go on')
  t.ok(turns.filter(({ error }) => error?.code === 'setting_invalid').length >= 15, 'each is told')
})

t.test('S-129 changed settings count without a restart', async (t) => {
  const world = await World.in(t).state().session().images()
  const one = record(world, {}, 12, {
    screenshot_observation_digest: async () => {
      if (one.clock.monotonicMs() > 0) return
      await one.ctx.gov.store.transact('test', (tx) => tx.put(settingsCollection, settingsId, {
        ...(tx.get(settingsCollection, settingsId) ?? unsetSettings), ingest_interval_minutes: 5,
      }))
    },
  })
  await one.run()
  t.strictSame(one.began.get('screenshot_folder_ingest'), [0, 5, 10])
})

t.test('S-127 one turn of each and no more once the stop has come', async (t) => {
  const world = await World.in(t).state().session().images()
  const { ctx, jobs, stop } = record(world, {}, 1_000)
  const turns: JobName[] = []
  const ended = await runOnce(ctx, ({ job }) => {
    turns.push(job)
    stop.abort()
  }, jobs)
  t.strictSame(turns, ['screenshot_folder_ingest'])
  t.hasStrict(shotsRun.failure({ ended }), { kind: 'cancelled', code: 'shots_run_stopped' })
  t.equal(shotsRun.failure({ ended: await runOnce(ctx, () => undefined, []) }), null)
  const off = { ...ctx, env: { ...ctx.env, SCREENSHOT_OBSERVATION_DIGEST_ENABLED: 'false' } }
  const [left] = await runOnce(off, () => undefined, jobs.slice(2))
  t.equal(left?.outcome, 'disabled', 'what is switched off was not left')
})
