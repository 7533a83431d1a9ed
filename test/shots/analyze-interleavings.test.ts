/** What others do between the steps of one analysis, and what is sent and kept then. */
import { renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { nowIso } from '../../src/governance/context.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { runningCollection } from '../../src/shots/analysis/analysis-rows.js'
import { analyzeBatch } from '../../src/shots/analysis/batch.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import { readLockCounters } from '../../src/shots/lock-counters.js'
import { shotCollections, type Observation } from '../../src/shots/observations/observation-rows.js'
import { tryHoldFile, type HeldFile } from '../../src/state/holds/kernel-file.js'
import { placesOf } from '../../src/state/paths.js'
import { acquireLane } from '../../src/state/holds/lane.js'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { laneWaiters } from '../support/lanes.js'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, RunOptions } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { betweenLookAndClaim, rowOf, sent, set, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'

const analyzeWith = (
  world: AnalysisWorld, step: string, happens: () => unknown, options: RunOptions = {},
): Promise<Ran> => {
  let done = false
  return world.run(['shots', 'analyze', '--json'], {
    ...options,
    at: async (at) => {
      if (done || at !== `analyze.${step}`) return
      done = true
      await happens()
    },
  })
}

const widen = (world: AnalysisWorld) => must(world.widen([
  '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
  '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
]))

interface Event {
  readonly happens: (world: AnalysisWorld) => Promise<unknown>
  readonly mend: (world: AnalysisWorld) => Promise<unknown>
}

const events: Readonly<Record<string, Event>> = {
  policy_revoked: {
    happens: (world) => must(world.run(['policy', 'revoke', '--json'])),
    mend: widen,
  },
  cloud_upload_off: {
    happens: (world) => set(world, '--cloud-upload', 'off'),
    mend: (world) => set(world, '--cloud-upload', 'on'),
  },
  route_disabled: {
    happens: (world) => must(world.run(['gateway', 'setup', '--disable', '--json'])),
    mend: (world) => must(world.widen(['--enable', '--consent', 'gateway.vision'])),
  },
}

const steps: Readonly<Record<string, readonly string[]>> = {
  cloud_upload_off: ['claimed', 'contact_begin', 'before_first_byte'],
  policy_revoked: ['before_first_byte'],
  route_disabled: ['reserved'],
}

t.test('S-021 S-159 permission that ends between admission and send', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const [reason, { happens, mend }] of Object.entries(events)) {
    for (const step of steps[reason] ?? []) {
      await t.test(`S-021 S-017 ${reason} at ${step}: zero bytes, blocked, nothing held`, async (t) => {
        const name = `${reason}-${step}.png`
        await take(world, name)
        const calls = world.calls().length
        const ran = await analyzeWith(world, step, () => happens(world))
        t.hasStrict(ran.json(), { analyzed: 0, blocked: 1 }, ran.stderr)
        t.hasStrict(rowOf(world, name), {
          analysis_status: 'blocked', payload: null, analyzer: { reason, contact: 'none' },
        })
        t.equal(world.calls().length, calls)
        const held = findReservation(world.view(), rowOf(world, name).analyzer.operation_id ?? '')
        t.ok(held === undefined || held.state === 'released')
        await mend(world)
        await world.run(['shots', 'analyze', '--json'])
      })
    }
  }
  checkLedger(t, world)
})

t.test('changes at the route meanwhile', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')

  await t.test('S-010 another model meanwhile: the request is not sent', async (t) => {
    await take(world, 'model.png')
    const calls = world.calls().length
    await analyzeWith(world, 'reserved', () => must(world.widen([
      '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-2', '--consent', 'gateway.vision',
      '--upstream-allow', 'acme-host',
    ])))
    t.equal(world.calls().length, calls)
    t.hasStrict(rowOf(world, 'model.png'), { analysis_status: 'blocked', payload: null })
    t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 0 })
    t.equal(rowOf(world, 'model.png').analyzer.reason, 'before_consent', 'or its consent: new')
  })

  await t.test('S-011 another key meanwhile: the request is not sent', async (t) => {
    await must(world.prove('screenshot'))
    await take(world, 'key.png')
    const calls = world.calls().length
    writeFileSync(world.place.path('key2'), 'ANOTHER-KEY-0123456789\n')
    await analyzeWith(world, 'reserved', () => must(world.widen([
      '--api-key-file', world.place.path('key2'), '--consent', 'gateway.vision',
    ])))
    t.equal(world.calls().length, calls)
    t.hasStrict(rowOf(world, 'key.png'), { analysis_status: 'blocked', payload: null })
    const next = await world.run(['shots', 'analyze', '--json'])
    t.hasStrict(next.json(), { analyzed: 0 }, 'the proof was of another key')
    t.equal(world.calls().length, calls)
  })
})

t.test('S-021 an image whose folder lies elsewhere by now is not sent, though its old path leads there', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const { folder } = world
  const away = `${folder}-away`
  const meanwhile = async (): Promise<void> => {
    renameSync(folder, away)
    symlinkSync(away, folder)
  }
  const at = async (step: string): Promise<unknown> =>
    (await analyzeWith(world, step, meanwhile)).json()
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    'before the claim': () =>
      analyzeBatch(betweenLookAndClaim(world, meanwhile), { scheduled: false }),
    'behind the claim': () => at('claimed'),
    'before the first byte': () => at('before_first_byte'),
  }
  await take(world, 'a.png')
  const calls = world.calls().length
  for (const [attempts, [when, run]] of Object.entries(ways).entries()) {
    t.hasStrict(await run(), { analyzed: 0, skipped: 1, items: [] }, when)
    t.equal(world.calls().length, calls, when)
    t.hasStrict(rowOf(world, 'a.png'),
      { analysis_status: 'pending', payload: null, analyzer: { attempts } }, when)
    unlinkSync(folder)
    renameSync(away, folder)
  }
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 })
  checkLedger(t, world)
})

t.test('S-169 S-160 while a request is under way the state is free, and a late reply merges', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  const ran = await analyzeWith(world, 'replied', async () => {
    const row = rowOf(world, 'a.png')
    t.hasStrict(row, { analysis_status: 'pending', analyzer: { contact: 'claimed' } })
    t.equal((await world.run(['shots', 'status', '--json'])).status, 0)
    await take(world, 'b.png')
    // What a scan does when it suppresses a like image.
    const { gov } = world.ctx('write')
    await gov.store.transact('test', (tx) => {
      const now = tx.get(shotCollections.observations, row.observation_id) as Observation
      putObservation(tx, nowIso(gov), {
        ...now,
        screenshot_visual_run: {
          representative_path: 'a.png', first_seen: now.captured_at, last_seen: now.captured_at,
          suppressed_count: 3, latest_suppressed_path: 'x.png', reason_counts: { like: 3 },
        },
      })
    })
    gov.store.close()
  })
  t.hasStrict(ran.json(), { analyzed: 1 })
  t.hasStrict(rowOf(world, 'a.png'), {
    analysis_status: 'succeeded', screenshot_visual_run: { suppressed_count: 3 },
  })
  t.equal(sent(world), 1)
  t.equal(rowOf(world, 'b.png').analysis_status, 'pending')
})

t.test('S-160 a row that was archived meanwhile keeps what was paid for', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  const ran = await analyzeWith(world, 'replied', async () => {
    const row = rowOf(world, 'a.png')
    await world.put({ ...row, archived_at: row.captured_at })
  })
  t.hasStrict(ran.json(), { analyzed: 1 })
  const row = rowOf(world, 'a.png')
  t.ok(row.payload !== null && row.archived_at !== null)
  t.strictSame(world.view().all(runningCollection), [])
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

const lockOf = (world: AnalysisWorld): HeldFile => {
  const lock = tryHoldFile(placesOf(world.place.stateDir).lock)
  if (lock === null) throw new Error('the lock was not free')
  return lock
}

t.test('S-170 S-171 S-118 a lock that is held past the wait degrades the batch, the rest waits', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const name of ['a.png', 'b.png', 'c.png']) await take(world, name)
  let lock: HeldFile | null = null
  let count = 0
  const ran = await world.run(['shots', 'analyze', '--json', '--wait', '0'], {
    at: (step) => {
      if (step === 'analyze.finished') count += 1
      if (step === 'analyze.finished' && count === 1) lock = lockOf(world)
    },
  })
  t.hasStrict(ran.json(), {
    status: 'degraded', reason: 'lock_held', analyzed: 1, skipped: 2, failed: 0, receipt_id: null,
  })
  t.equal(ran.status, 13)
  ;(lock as HeldFile | null)?.release()
  const statuses = ['a.png', 'b.png', 'c.png'].map((name) => rowOf(world, name).analysis_status)
  t.strictSame(statuses.sort(), [
    'pending', 'pending', 'succeeded',
  ])
  t.ok(readLockCounters(world.place.stateDir).failures > 0)
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 2 })
  checkLedger(t, world)
})

t.test('S-167 S-020 a request under way ends first, then the highest that waits', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  await take(world, 'b.png')
  const before = world.calls().length
  let proof: Promise<Ran> | null = null
  const ran = await analyzeWith(world, 'replied', async () => {
    proof = world.prove('report')
    await until('the proof waits', () => laneWaiters(world.place.stateDir).high > 0)
    t.equal(world.calls().length, before + 1, 'it waits, and the first one goes on')
  })
  t.hasStrict(ran.json(), { analyzed: 2 })
  t.equal((await (proof as Promise<Ran> | null))?.status, 0)
  const order = world.calls().slice(before).map(({ body }) =>
    (body.includes('svc_screenshot_analysis_v1') ? 'image' : 'proof'))
  t.strictSame(order, ['image', 'proof', 'image'])
})

t.test('S-020 S-022 one request at a time: a busy lane leaves the image pending', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  const lane = await acquireLane({
    dir: world.place.stateDir, priority: 'high', clock: systemClock, observer: silentObserver,
    deadlineMs: systemClock.monotonicMs() + 5_000, signal: new AbortController().signal,
  })
  let jumpMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  const ran = await world.run(['shots', 'analyze', '--json'], {
    clock, at: (step) => { if (step === 'analyze.claimed') jumpMs = 121_000 },
  })
  lane.release()
  t.hasStrict(ran.json(), { status: 'degraded', analyzed: 0, skipped: 1 })
  t.hasStrict(rowOf(world, 'a.png'), { analysis_status: 'pending', analyzer: { contact: 'none' } })
  t.equal(sent(world), 0)
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 })
})

t.test('S-168 S-020 two processes at once never pay twice for one image', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const names = ['a.png', 'b.png', 'c.png', 'd.png']
  for (const name of names) await take(world, name)
  const both = await Promise.all([1, 2].map(() =>
    world.place.spawn(['shots', 'analyze', '--json'], { coverage: false })))
  t.equal(sent(world), 4, both.map((ran) => ran.stderr).join())
  t.ok(world.rows().every((row) => row.analysis_status === 'succeeded'))
  t.equal(both.reduce((sum, ran) => sum + (ran.json().analyzed as number), 0), 4)
  checkLedger(t, world)
})

t.test('S-168 an image whose request turns out to be of unknown end between look and claim is not sent without the reason for it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await set(world, '--analysis-concurrency', '2')
  for (const name of ['a.png', 'b.png']) await take(world, name)
  const waiting = () => world.rows()
    .filter(({ analyzer, analysis_status: status }) =>
      status === 'pending' && analyzer.contact !== 'claimed')
  const ran = await analyzeWith(world, 'replied', async () => {
    const { gov } = world.ctx('write')
    const [row] = waiting()
    await gov.store.transact('test', (tx) => {
      if (row === undefined) return
      const analyzer = { ...row.analyzer, contact: 'uncertain' as const }
      putObservation(tx, nowIso(gov), { ...row, analyzer })
    })
    gov.store.close()
  })
  t.hasStrict(ran.json(), { analyzed: 1 }, ran.stderr)
  t.equal(sent(world), 1)
  t.equal(world.rows().filter(({ payload }) => payload !== null).length, 1)
  checkLedger(t, world)
})
