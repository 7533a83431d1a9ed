/** What a day costs is told before it is paid, and never less than it comes to. */
import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { systemClock } from '../../src/base/clock.js'
import { nowIso } from '../../src/governance/context.js'
import {
  analysisPromptVersion, analysisSchemaVersion, shotLimits,
} from '../../src/shots/constants.js'
import { meantDay } from '../../src/shots/meant-day.js'
import { estimateDay } from '../../src/shots/estimate/estimate.js'
import { configuredModel } from '../../src/shots/observations/as-of-now.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import { zoneOf } from '../../src/observations/zone.js'
import { casesOf, forAllWaited } from '../support/for-all.js'
import { must } from '../support/must.js'
import { noonZone } from '../support/noon.js'
import { greyPng, image } from '../support/png.js'
import { analyze, rowOf, scan, sent, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Loose } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'

const [width, height] = [640, 360]
const picture = (shade: number, level = 6): Buffer => greyPng(width, height, shade, level)
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString()

const stage = (t: Parameters<typeof World.in>[0]) => World.in(t).sandbox().state().session()
  .gateway(forImages).images(allowed).proof('screenshot')

/** Two windows in turns: each picture of one is another file. */
const flips = async (
  world: AnalysisWorld, from: number, to: number, when: (minute: number) => string = at,
): Promise<void> => {
  for (let i = from; i < to; i += 1) {
    world.file(`${i}.png`, picture(i % 2 === 0 ? 40 : 90, 1 + Math.floor(i / 2)), when(i))
  }
  await scan(world)
}

const day = ['--day', '2026-11-20', '--time-zone', 'UTC'] as const
const estimate = async (world: AnalysisWorld): Promise<Loose> =>
  must(await world.run(['shots', 'estimate', '--json', ...day])).json()

const counted = [
  'would_pay', 'would_repeat', 'described', 'described_as_earlier', 'failed', 'needs_reanalysis',
  'sent_before', 'source_missing',
] as const

/** Each image is counted once. */
const sum = (one: Loose): number => counted.reduce((all, name) => all + one[name], 0)
  + one.blocked.reduce((all: number, { count }: { count: number }) => all + count, 0)

/** Every file of the state with its time: what wrote nothing leaves all as they are. */
const filesOf = (folder: string): string[] => readdirSync(folder, { recursive: true })
  .map((name) => join(folder, String(name)))
  .map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`).sort()

t.test('S-146 what a day costs is told before it is paid, and is what the analysis then pays; nothing is sent or written for it', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 6)
  const before = filesOf(world.place.stateDir)
  const asked = await estimate(world)
  t.strictSame(filesOf(world.place.stateDir), before)
  t.equal(sent(world), 0)
  t.hasStrict(asked, {
    day: '2026-11-20', since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z',
    images: 6, would_pay: 2, would_repeat: 4, exact: true, not_compared: 0, closed: null,
    price: { average_microusd: null, charges: 0, bound_microusd: 100_000 },
    choices: [
      { reuse: 'on', in_force: true, calls: 2, exact: true, likely_microusd: null,
        at_most_microusd: 200_000 },
      { reuse: 'off', in_force: false, calls: 6, exact: true, likely_microusd: null,
        at_most_microusd: 600_000 },
    ],
  })
  const [receipt] = [(await analyze(world)).json()]
  t.strictSame([sent(world), receipt.reused], [asked.would_pay, asked.would_repeat])
  const after = await estimate(world)
  const average = receipt.cost_microusd / 2
  t.hasStrict(after, {
    would_pay: 0, would_repeat: 0, described: 2, described_as_earlier: 4,
    price: { average_microusd: Math.round(average), charges: 2 },
    choices: [
      { calls: 2, likely_microusd: 2 * Math.round(average) },
      { calls: 6, likely_microusd: 6 * Math.round(average) },
    ],
  }, 'the day costs what it cost')
  await flips(world, 6, 8)
  t.hasStrict(await estimate(world), { would_pay: 0, would_repeat: 2, choices: [{ calls: 2 }] })
  await set(world, '--reuse', 'off')
  const off = await estimate(world)
  t.hasStrict(off, { would_pay: 2, would_repeat: 0, choices: [{ in_force: false }, { calls: 8 }] })
  const sentBefore = sent(world)
  await analyze(world)
  t.equal(sent(world) - sentBefore, off.would_pay)
})

t.test('S-147 each image of the day is counted once, by what keeps it from a request', async (t) => {
  const world = await stage(t)
  await set(world, '--analysis', 'off')
  await flips(world, 0, 1)
  await set(world, '--analysis', 'on')
  world.sandbox.faults.set('status_500', { service: 'gateway', times: 1 })
  await analyze(world)
  t.equal(rowOf(world, '0.png').analysis_status, 'failed')
  await flips(world, 1, 2)
  const whole = picture(120)
  world.file('cut.png', whole.subarray(0, whole.length - 40), at(3))
  world.file('gone.png', picture(150), at(4))
  await scan(world)
  unlinkSync(join(world.folder, 'gone.png'))
  world.file('other-day.png', picture(170), '2026-11-21T00:00:00.000Z')
  await scan(world)
  const told = await estimate(world)
  t.hasStrict(told, {
    images: 4, failed: 1, would_pay: 1, source_missing: 1,
    blocked: [{ reason: 'image_truncated', count: 1 }],
    choices: [{ calls: 2, exact: true }, { calls: 2 }],
  })
  t.equal(sum(told), told.images)
  await set(world, '--analysis', 'off')
  t.hasStrict(await estimate(world), { closed: 'analysis_off', would_pay: 1 })
  t.match((await world.run(['shots', 'estimate', ...day])).stderr,
    'Nothing is sent now: Analysis is not switched on.')
})

t.test('S-149 what no repeat could take counts as a request: another allow-list, and a described file that is gone', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 2)
  await analyze(world)
  must(await world.widen(['--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host', '--consent', 'gateway.vision']))
  must(await world.prove('screenshot'))
  world.file('again.png', picture(40, 9), at(9))
  await scan(world)
  t.hasStrict(await estimate(world), { would_pay: 1, would_repeat: 0 })
  unlinkSync(join(world.folder, '0.png'))
  t.hasStrict(await estimate(world), {
    would_pay: 1, exact: true, not_compared: 1, choices: [{ calls: 3, exact: false }, { calls: 3 }],
  }, 'whether that one was a repeat nobody can tell any more')
})

t.test('S-021 what was taken in before the consent of now is told as blocked, and as no request', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 2)
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(['--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision']))
  must(await world.prove('screenshot'))
  t.equal(rowOf(world, '0.png').analysis_status, 'pending')
  t.hasStrict(await estimate(world), {
    would_pay: 0, blocked: [{ reason: 'before_consent', count: 2 }], choices: [{ calls: 2 }],
  })
  await analyze(world)
  t.equal(sent(world), 0)
})

t.test('what was not compared counts as a request and is told as the most; a signal ends it', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 6)
  const ctx = world.ctx()
  const asked = { day: '2026-11-20', timeZone: 'UTC' }
  t.hasStrict(await estimateDay(ctx, { ...asked, msMax: 0 }), {
    notCompared: 6, exact: false, tally: { would_pay: 6, would_repeat: 0 },
    choices: [{ calls: 6, exact: false }, { calls: 6, exact: false }],
  })
  const stopped = estimateDay({ ...ctx, signal: AbortSignal.abort() }, asked)
  t.equal(await stopped.catch(({ kind }: { kind: string }) => kind), 'cancelled')
  ctx.gov.store.close()
})

t.test('where more was described than one look goes through, the number is told as the most that it can be', async (t) => {
  const world = await stage(t)
  for (let i = 0; i <= shotLimits.sketchedAgainMax; i += 1) {
    world.file(`${i}.png`, image(i), new Date(Date.UTC(2026, 10, 19, 10, 0, i)).toISOString())
  }
  world.file('new.png', image(500), at(0))
  await scan(world)
  const { gov } = world.ctx('write')
  const model = configuredModel(gov.store.read()) ?? ''
  await gov.store.transact('test', (tx) => {
    for (const row of world.rows()) {
      if (row.captured_at >= at(0)) continue
      putObservation(tx, nowIso(gov), {
        ...row, analysis_status: 'succeeded', payload: {
          artifact_id: 'art_x', sha256: row.sha256, model, reply_model: model,
          prompt_version: analysisPromptVersion, schema_version: analysisSchemaVersion,
          analyzed_at: at(0), operation_id: 'op_x', cost_microusd: 1, earlier: false,
        },
      })
    }
  })
  gov.store.close()
  t.hasStrict(await estimate(world), { would_pay: 1, exact: false, not_compared: 0 })
})

t.test('S-070 whatever a day looks like, the analysis pays as many requests as were told', async (t) => {
  const days = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 9 })
  await forAllWaited(t, fc.asyncProperty(days, async (windows) => {
    const world = await stage(t)
    for (const [i, window] of windows.entries()) {
      world.file(`${i}.png`, picture(40 + 50 * window, i % 9 + 1), at(i))
    }
    await scan(world)
    const { would_pay: pays, exact } = await estimate(world)
    await analyze(world)
    return exact === true && sent(world) === pays
  }), { numRuns: casesOf(8) })
})

t.test('yesterday is meant unless a day is given, by the clock of the zone, and a day lasts from midnight to midnight', async (t) => {
  const nowMs = Date.parse('2026-10-26T22:30:00.000Z')
  const told = (timeZone: string, name?: string) => {
    const { day, since, until } = meantDay(nowMs, { day: name, timeZone })
    return [day, since, until]
  }
  t.strictSame(told('UTC'),
    ['2026-10-25', '2026-10-25T00:00:00.000Z', '2026-10-26T00:00:00.000Z'])
  t.strictSame(told('Pacific/Kiritimati'),
    ['2026-10-26', '2026-10-25T10:00:00.000Z', '2026-10-26T10:00:00.000Z'])
  t.strictSame(told('Europe/Berlin', '2026-10-25'),
    ['2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'], '25 hours')
  for (const timeZone of ['UTC', 'Europe/Berlin', 'America/Santiago', 'Pacific/Kiritimati']) {
    const zone = zoneOf(timeZone)
    const { day, since, until } = meantDay(systemClock.wallMs(), { timeZone })
    t.equal(zone.at(since).day, day)
    t.not(zone.at(until).day, day)
  }
})

t.test('a day that is none and a zone that nobody knows are refused; a zone of TZ counts as in a report', async (t) => {
  const world = await stage(t)
  const refused = async (...flags: string[]) =>
    (await world.run(['shots', 'estimate', '--json', ...flags])).error().code
  t.equal(await refused('--day', '2026-02-30'), 'day_invalid')
  t.equal(await refused('--day', 'tomorrow'), 'day_invalid')
  t.equal(await refused('--time-zone', 'Nowhere/Land'), 'time_zone_unknown')
  const nowMs = systemClock.wallMs()
  const clock = { ...systemClock, wallMs: () => nowMs }
  const odd = must(await world.run(
    ['shots', 'estimate', '--json'], { env: { TZ: 'Nowhere' }, clock }))
  t.equal(odd.json().time_zone, 'UTC')
  const byWord = must(await world.run(
    ['shots', 'estimate', '--json', '--day', 'yesterday'], { clock }))
  t.equal(byWord.json().day, odd.json().day, 'yesterday by its name, or by none')
})

t.test('people read counts and a table of requests and dollars within 80 columns, the setup form the same of yesterday', async (t) => {
  const world = await stage(t)
  const { name: timeZone } = noonZone()
  const { day: name, since } = meantDay(systemClock.wallMs(), { timeZone })
  await flips(world, 0, 6, (minute) =>
    new Date(Date.parse(since) + minute * 60_000).toISOString())
  await analyze(world)
  const env = { TZ: timeZone, NO_COLOR: '1' }
  const told = must(await world.run(['shots', 'estimate'], { terminal: { stdout: true }, env }))
  t.match(told.stdout, `${name}, ${timeZone}: 6 images taken in`)
  t.match(told.stdout, /--reuse on \(as it is\) +2 +\$0\.\d+ +\$0\.20/)
  t.match(told.stdout, /--reuse off +6 +\$0\.\d+ +\$0\.60/)
  t.match(told.stderr, '2 newest requests cost')
  for (const line of told.stdout.split('\n')) t.ok(line.length <= 80, line)
  const form = await world.run(['shots', 'setup', '--json'], {
    terminal: { stdin: true, stdout: true }, env,
    answers: [world.folder, 'keep', 'keep', 'keep', false],
  })
  t.match(form.stderr, `Yesterday, ${name}, 6 images; with each setting:`)
  t.match(form.stderr, /--reuse on \(as it is\)/)
})
