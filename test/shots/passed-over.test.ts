/** Blocked images: who tells of them, and that no hint leads back to the verb that gave it. */
import { systemClock } from '../../src/base/clock.js'
import { routeStatusOf } from '../../src/shots/gates.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { observationOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type ImageWorld } from '../world/world.js'

const concludeNext = async (world: ImageWorld): Promise<string> => {
  const ran = await world.run(['shots', 'report', '--since', '2026-11-01', '--conclude'])
  t.equal(ran.status, 3, ran.stderr)
  return /^next: (.*)$/m.exec(ran.stderr)?.[1] ?? ''
}

t.test('analyze tells how many blocked images it passed over, why, and what to do', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await world.prove('screenshot')
  const early = '2026-11-20T10:00:00.000Z'
  await world.put(
    ...['a.png', 'b.png'].map((name) => observationOf(world.folder, name, {
      observed_at: '2020-01-01T00:00:00.000Z', captured_at: early,
    })),
    observationOf(world.folder, 'c.png', {
      captured_at: early,
      analyzer: { ...observationOf('/x', 'x').analyzer, reason: 'file_unreadable' },
    }),
  )
  const ran = await world.run(['shots', 'analyze'])
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stdout, /^0 looked at/m)
  t.match(ran.stderr, '3 blocked and passed over: 2 before_consent, 1 file_unreadable')
  t.match(ran.stderr, 'shots reanalyze --blocked --reason manual_operator_request')
  const json = (await world.run(['shots', 'analyze', '--json'])).json()
  t.hasStrict(json, {
    scanned: 0, passed_over: 3,
    passed_over_reasons: [
      { reason: 'before_consent', count: 2 }, { reason: 'file_unreadable', count: 1 },
    ],
  })

  await t.test('the status names the reasons, the list has them in a column', async (t) => {
    const status = await world.run(['shots', 'status'])
    t.match(status.stdout, /^analysis .*3 blocked \(2 before_consent, 1 file_unreadable\)/m)
    const lines = (await world.run(['shots', 'list'])).stdout.split('\n')
    t.match(lines.find((line) => line.includes('c.png')), /\tfile_unreadable$/)
    const seen = (await world.run(['shots', 'status', '--json'])).json()
    t.hasStrict(seen.screenshot_folder.analysis, {
      blocked_reasons: [{ count: 2 }, { count: 1 }], blocked_looked_at: 3,
      blocked_next: 'Run `sallyport shots reanalyze --blocked --reason manual_operator_request`.',
    })
    t.match(status.stdout.replace(/\s+/g, ' '),
      'to go on Run `sallyport shots reanalyze --blocked --reason manual_operator_request`.')
  })

  await t.test('a few rows are looked at however slow the machine is', async (t) => {
    let ms = 0
    const slow = { ...systemClock, monotonicMs: () => (ms += 1_000) }
    const seen = (await world.run(['shots', 'status', '--json'], { clock: slow })).json()
    t.hasStrict(seen.screenshot_folder.analysis.blocked_reasons, [{ count: 2 }, { count: 1 }])
  })

  await t.test('a conclusion over blocked images does not send to analyze', async (t) => {
    t.match(await concludeNext(world), 'shots reanalyze --blocked')
  })

  await t.test('over pending images it does, and that helps', async (t) => {
    world.file('p.png', greyPng(64, 48, 7_800), new Date().toISOString())
    await world.run(['shots', 'scan', '--json'])
    t.match(await concludeNext(world), 'Run `sallyport shots analyze`.')
    const done = await world.run(['shots', 'analyze', '--json'])
    t.hasStrict(done.json(), { analyzed: 1, passed_over: 3 })
  })
})

t.test('a conclusion over nothing, over failures and behind a closed gate names another verb',
  async (t) => {
  const world = await World.still(t, Date.UTC(2026, 10, 20, 12)).state().session().images()
  t.match(await concludeNext(world), '--since')
  await world.put(observationOf(world.folder, 'f.png', { analysis_status: 'failed' }))
  t.match(await concludeNext(world), 'reanalyze --failed --reason provider_failure_retry')
  await world.put(observationOf(world.folder, 'b.png'))
  t.match(await concludeNext(world), 'shots setup --analysis on')
  await t.test('the reason is the one of now, not that of the moment it was blocked', async (t) => {
    await world.run(['shots', 'config', 'set', '--analysis', 'on'])
    const ran = await world.run(['shots', 'analyze'])
    t.match(ran.stderr, '1 blocked and passed over: 1 cloud_upload_off')
    t.match(ran.stderr, 'shots setup --cloud-upload on')
    t.match(await concludeNext(world), 'shots setup --cloud-upload on')
  })
})

t.test('the reasons of blocked and failed images are counted for all of them, however slow the machine is', async (t) => {
  const world = await World.in(t).state().session().images()
  const many = (from: number, to: number, change: Partial<Observation>): Observation[] =>
    Array.from({ length: to - from }, (_, n) =>
      observationOf(world.folder, `${from + n}.png`, change))
  const { analyzer } = observationOf('/x', 'x')
  await world.put(
    ...many(0, 1_100, { observed_revision: 1 }),
    ...many(1_100, 1_300, { analyzer: { ...analyzer, reason: 'image_damaged' } }),
    ...many(1_300, 1_307, {
      analysis_status: 'failed', analyzer: { ...analyzer, reason: 'timed_out' },
    }),
    ...many(1_307, 1_309, {
      analysis_status: 'failed', analyzer: { ...analyzer, reason: 'bad_reply' },
    }),
  )
  let ms = 0
  const clock = { ...systemClock, monotonicMs: () => (ms += 1_000) }
  const seen = (await world.run(['shots', 'status', '--json'], { clock })).json()
  t.hasStrict(seen.screenshot_folder.analysis, {
    status_mix: { blocked: 1_300, failed: 9 }, blocked_looked_at: 1_300,
    blocked_reasons: [
      { reason: 'analysis_off', count: 1_100 }, { reason: 'image_damaged', count: 200 },
    ],
    failed_reasons: [{ reason: 'timed_out', count: 7 }, { reason: 'bad_reply', count: 2 }],
  })
  const text = (await world.run(['shots', 'status'], { clock })).stdout.replace(/\s+/g, ' ')
  t.match(text, '1300 blocked (1100 analysis_off, 200 image_damaged)')
  t.match(text, '9 failed (7 timed_out, 2 bad_reply)')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('what a consent reaches of blocked images is counted by the policy under which they were taken in', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await world.prove('screenshot')
  const ctx = world.ctx('read')
  const reach = routeStatusOf(ctx, ctx.gov.store.read()).route?.consent.granted_revision ?? 0
  ctx.gov.store.close()
  t.ok(reach > 0)
  const taken = (name: string, revision: number): Observation =>
    observationOf(world.folder, name, { observed_revision: revision })
  await world.put(
    ...Array.from({ length: 20 }, (_, n) => taken(`before-${n}.png`, reach - 1)),
    ...Array.from({ length: 10 }, (_, n) => taken(`behind-${n}.png`, reach)),
  )
  let ms = 0
  const clock = { ...systemClock, monotonicMs: () => (ms += 1_000) }
  const seen = (await world.run(['shots', 'status', '--json'], { clock })).json()
  t.hasStrict(seen.screenshot_folder.analysis, {
    blocked_looked_at: 30, blocked_reasons: [
      { reason: 'before_consent', count: 20 }, { reason: 'reason_gone', count: 10 },
    ],
  })
})

t.test('where rows of an earlier version have to be read, the status says how many were', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await world.prove('screenshot')
  await world.put(...Array.from({ length: 9 }, (_, n) => observationOf(world.folder, `${n}.png`)))
  let ms = 0
  const clock = { ...systemClock, monotonicMs: () => (ms += 1_000) }
  const json = (await world.run(['shots', 'status', '--json'], { clock })).json()
  t.hasStrict(json.screenshot_folder.analysis, {
    status_mix: { blocked: 9 }, blocked_looked_at: 5, blocked_reasons: [{ count: 5 }],
  })
  const text = (await world.run(['shots', 'status'], { clock })).stdout
  t.match(text, /^analysis .*9 blocked \(\w+: 5 of them were looked at\)/m)
})
