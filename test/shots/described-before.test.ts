/** An image that repeats one which was described takes its analysis, and nothing is sent for it. */
import { unlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { moneyText } from '../../src/base/money.js'
import { nowIso } from '../../src/governance/context.js'
import { collections } from '../../src/governance/rows.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { must } from '../support/must.js'
import { greyPng } from '../support/png.js'
import { analyze, healthy, rowOf, scan, sent, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

const [width, height] = [640, 360]

/** A picture of its own; another level has the same pixels in other bytes. */
const picture = (shade: number, level = 6): Buffer => greyPng(width, height, shade, level)

const [described, between] = [40, 90]

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString()

const stage = (t: Parameters<typeof World.in>[0]) => World.in(t).sandbox().state().session()
  .gateway(forImages).images(allowed).proof('screenshot')

/** Two windows in turns: each picture of one is another file. */
const flips = async (world: AnalysisWorld, from: number, to: number): Promise<void> => {
  for (let i = from; i < to; i += 1) {
    const shade = i % 2 === 0 ? described : between
    world.file(`${i}.png`, picture(shade, 1 + Math.floor(i / 2)), at(i))
  }
  await scan(world)
}

/** One that was described, and another one after it, so that no scan holds a repeat back. */
const twoDescribed = async (world: AnalysisWorld): Promise<void> => {
  await flips(world, 0, 2)
  t.hasStrict((await analyze(world)).json(), { analyzed: 2, reused: 0 })
}

/** A repeat of the described one, in other bytes. */
const repeat = async (world: AnalysisWorld, name = 'again.png', minute = 9): Promise<void> => {
  world.file(name, picture(described, 9 - (minute % 2)), at(minute))
  await scan(world)
}

/** The rows as something else would have left them. */
const change = async (
  world: AnalysisWorld, name: string, next: (row: Observation) => Observation,
): Promise<void> => {
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) =>
    putObservation(tx, nowIso(gov), next(rowOf(world, name))))
  gov.store.close()
}

t.test('S-070 S-149 two windows in turns are two requests, and each image has its analysis in its own row', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 6)
  t.equal(world.rows().length, 6, 'the scan takes in each of them')
  const receipt = (await analyze(world)).json()
  t.hasStrict(receipt, { scanned: 6, analyzed: 6, reused: 4 })
  t.equal(sent(world), 2)
  t.strictSame(receipt.items.map((one: { reused?: boolean }) => one.reused ?? false),
    [false, false, true, true, true, true])
  const [first, again] = [rowOf(world, '0.png'), rowOf(world, '4.png')]
  t.hasStrict(again, {
    analysis_status: 'succeeded',
    payload: {
      artifact_id: first.payload?.artifact_id, cost_microusd: 0, earlier: false,
      payload_of: {
        observation_id: first.observation_id, captured_at: first.captured_at,
        analyzed_at: first.payload?.analyzed_at,
      },
    },
  }, 'of the one that was paid for, not of the repeat between them')
  await flips(world, 6, 8)
  t.hasStrict((await analyze(world)).json(), { analyzed: 2, reused: 2 })
  t.equal(sent(world), 2, 'another pass knows them, too')
  await healthy(t, world)
})

t.test('S-179 a bulk tells what analyses cost before by those that were paid for, since it sends repeats, too', async (t) => {
  const world = await stage(t)
  await flips(world, 0, 6)
  const { cost_microusd: cost, reused } = (await analyze(world)).json()
  t.equal(reused, 4)
  for (const { paths: [path] } of world.rows()) {
    await change(world, path?.name.text ?? '', (row) => ({
      ...row, payload: row.payload && { ...row.payload, prompt_version: 'svc.older.v0' },
    }))
  }
  const ran = await world.run([
    'shots', 'reanalyze', '--needs', '--reason', 'prompt_version_changed', '--json',
  ])
  t.match(ran.stderr, '6 found, 6 would be sent')
  t.match(ran.stderr, `their analyses cost ${moneyText(Math.round(cost / 2))} on average before`)
})

/** Whatever makes the earlier call none that a repeat could take. */
const others: Readonly<Record<string, (world: AnalysisWorld) => Promise<unknown>>> = {
  'it is switched off': (world) => set(world, '--reuse', 'off'),
  'its file is gone': async (world) => unlinkSync(join(world.folder, '0.png')),
  'its file has other bytes': async (world) => world.file('0.png', picture(7), at(0)),
  'a later attempt failed': (world) => change(world, '0.png', (row) =>
    ({ ...row, payload: row.payload === null ? null : { ...row.payload, earlier: true } })),
  'its analysis was taken from another one': (world) => change(world, '0.png', (row) => ({
    ...row, payload: row.payload === null ? null : {
      ...row.payload,
      payload_of: { observation_id: 'obs_x', captured_at: at(0), analyzed_at: at(1) },
    },
  })),
  'its analysis is of another call': (world) => change(world, '0.png', (row) =>
    ({ ...row, payload: row.payload === null ? null : { ...row.payload, operation_id: 'op_x' } })),
  'an area of it did not count': (world) => set(world, '--ignore', `${width}x${height}:0,0,64,64`),
  'its model is another one': async (world) => {
    must(await world.widen(['--slot', 'screenshot', '--model', 'gateway/acme/screenshot-2',
      '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision']))
    must(await world.prove('screenshot'))
  },
  'the upstream hosts are others': async (world) => {
    must(await world.widen(['--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
      '--upstream-allow', 'acme-host', '--consent', 'gateway.vision']))
    must(await world.prove('screenshot'))
  },
}

t.test('S-149 S-168 what was described otherwise, or is not there as it was, is asked about anew', async (t) => {
  for (const [why, make] of Object.entries(others)) {
    await t.test(`a repeat is sent where ${why}`, async (t) => {
      const world = await stage(t)
      await twoDescribed(world)
      await make(world)
      await repeat(world)
      const before = sent(world)
      const { analyzed, reused } = (await analyze(world)).json()
      t.equal(reused, 0)
      t.equal(sent(world) - before, analyzed, 'and whatever lies there now')
      t.hasStrict(rowOf(world, 'again.png').payload, { payload_of: undefined, earlier: false })
    })
  }
})

/** Every gate of a first analysis, closed after the repeat was taken in as pending. */
const closings: Readonly<Record<string, {
  readonly close: (world: AnalysisWorld) => Promise<unknown>
  readonly reason: string
}>> = {
  'analysis is off': {
    close: (world) => set(world, '--analysis', 'off'), reason: 'analysis_off',
  },
  'no consent is current': {
    close: async (world) => must(world.run(['policy', 'revoke', '--json'])),
    reason: 'policy_revoked',
  },
  'the budget of the day is spent': {
    close: (world) => set(world, '--budget-requests', '1'), reason: 'budget_exhausted',
  },
  'the image may not be read there': {
    close: async (world) => {
      await set(world, '--folder', world.place.path('.'), '--recursive', 'on')
    },
    reason: 'stale_root',
  },
}

t.test('S-008 S-016 S-159 S-205 a repeat passes every gate of a first analysis: one that is closed leaves it without', async (t) => {
  for (const [why, { close, reason }] of Object.entries(closings)) {
    await t.test(`nothing is taken where ${why}`, async (t) => {
      const world = await stage(t)
      await twoDescribed(world)
      await repeat(world)
      t.equal(rowOf(world, 'again.png').analysis_status, 'pending')
      await close(world)
      const before = sent(world)
      await analyze(world)
      const row = rowOf(world, 'again.png')
      t.hasStrict(row, { payload: null })
      t.not(row.analysis_status, 'succeeded')
      t.match([row.analyzer.reason, row.classification].join(), reason)
      t.equal(sent(world), before)
    })
  }
})

t.test('S-021 S-152 S-153 a repeat from before the consent, or under a proof that is stale, takes nothing', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  await repeat(world)
  const ahead = { ...systemClock, wallMs: () => systemClock.wallMs() + 25 * 3_600_000 }
  await world.run(['shots', 'analyze', '--json'], { clock: ahead })
  t.hasStrict(rowOf(world, 'again.png'), {
    payload: null, analysis_status: 'blocked', analyzer: { reason: 'proof_stale', attempts: 1 },
  })
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(['--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision']))
  must(await world.prove('screenshot'))
  await analyze(world)
  t.hasStrict(rowOf(world, 'again.png'), {
    payload: null, analysis_status: 'blocked', analyzer: { reason: 'before_consent' },
  })
  t.equal(sent(world), 2)
})

t.test('S-168 an image whose own request failed takes nothing by itself, however often it is described elsewhere', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  await set(world, '--reuse', 'off')
  world.sandbox.faults.set('status_500', { service: 'gateway', times: 1 })
  await repeat(world)
  await analyze(world)
  t.hasStrict(rowOf(world, 'again.png'), { analysis_status: 'failed' })
  await set(world, '--reuse', 'on')
  const before = sent(world)
  t.hasStrict((await analyze(world)).json(), { analyzed: 0, scanned: 0 })
  t.hasStrict(rowOf(world, 'again.png'), { analysis_status: 'failed', payload: null })
  t.equal(sent(world), before)
})

/** What happens between the comparison and the record that rests on it. */
const races: Readonly<Record<string, {
  readonly go: (world: AnalysisWorld) => Promise<unknown>
  readonly became: 'repeat' | 'sent' | 'left'
}>> = {
  'the earlier one is archived': {
    go: (world) => change(world, '0.png', (row) => ({ ...row, archived_at: at(8) })),
    became: 'sent',
  },
  'its file was missed': {
    go: (world) => change(world, '0.png', (row) => ({ ...row, classification: 'source_missing' })),
    became: 'sent',
  },
  'its file goes': { go: others['its file is gone']!, became: 'sent' },
  'its file is another one': { go: others['its file has other bytes']!, became: 'sent' },
  'it is asked about again': {
    go: async (world) => must(world.run(['shots', 'reanalyze',
      rowOf(world, '0.png').observation_id, '--reason', 'manual_operator_request', '--json'])),
    became: 'repeat',
  },
  'it is switched off': { go: others['it is switched off']!, became: 'sent' },
  'areas are ignored': { go: others['an area of it did not count']!, became: 'sent' },
  'the image itself is another one': {
    go: async (world) => utimesSync(join(world.folder, 'again.png'), new Date(), new Date()),
    became: 'left',
  },
  'everything is stopped': {
    go: async (world) => must(world.run(['policy', 'revoke', '--json'])), became: 'left',
  },
}

t.test('S-149 S-159 what changes between the comparison and the record is seen by the record', async (t) => {
  for (const [why, { go, became }] of Object.entries(races)) {
    await t.test(`nothing untrue is taken where ${why}`, async (t) => {
      const world = await stage(t)
      await twoDescribed(world)
      await repeat(world)
      let raced = Number.NaN
      await world.run(['shots', 'analyze', '--json'], {
        at: async (step) => {
          if (step !== 'analyze.repeated') return
          await go(world)
          raced = sent(world)
        },
      })
      t.equal(sent(world) - raced, became === 'sent' ? 1 : 0)
      const { payload } = rowOf(world, 'again.png')
      t.equal(payload === null ? 'left' : payload.payload_of === undefined ? 'sent' : 'repeat',
        became)
      if (became !== 'repeat') return
      t.equal(payload?.artifact_id, rowOf(world, '0.png').payload?.artifact_id, 'the newer one')
    })
  }
})

t.test('S-149 killed before its record a repeat waits as it did, and the next pass takes it', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  await repeat(world)
  const ran = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: 'analyze.repeated' }, coverage: false,
  })
  t.equal(ran.status, 137, ran.stderr)
  t.hasStrict(rowOf(world, 'again.png'), { analysis_status: 'pending', payload: null })
  t.hasStrict((await analyze(world)).json(), { analyzed: 1, reused: 1 })
  t.equal(sent(world), 2)
  await healthy(t, world)
})

t.test('S-160 what becomes of the earlier one later changes nothing of a repeat, which is asked anew by name', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  await repeat(world)
  t.hasStrict((await analyze(world)).json(), { reused: 1 })
  const before = rowOf(world, 'again.png')
  const reanalyze = (name: string) => world.run(['shots', 'reanalyze',
    rowOf(world, name).observation_id, '--reason', 'manual_operator_request', '--json'])
  must(await reanalyze('0.png'))
  t.strictSame(rowOf(world, 'again.png'), before)
  const text = must(await world.run(
    ['shots', 'show', before.observation_id, '--analysis', '--json']))
  t.ok(text.json().payload.summary.length > 0)
  const count = sent(world)
  t.hasStrict(must(await reanalyze('again.png')).json(), { analyzed: 1, reused: 0 })
  t.equal(sent(world), count + 1)
  t.hasStrict(rowOf(world, 'again.png').payload, { payload_of: undefined, earlier: false })
  await healthy(t, world)
})

t.test('what is kept of described images only saves looking: without it, and with one that does not open, they are found', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  const kept = () => world.view().all(collections.artifacts)
    .filter(({ doc }) => doc.label === 'svc.screenshot_sketches.v1')
  t.equal(kept().length, 1)
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) => tx.remove(collections.artifacts, kept()[0]?.id ?? ''))
  gov.store.close()
  await repeat(world)
  t.hasStrict((await analyze(world)).json(), { reused: 1 })
  t.equal(kept().length, 1, 'they are made again')
  const { stored_sha256: name } = kept()[0]!.doc.ref
  unlinkSync(join(world.place.stateDir, 'artifacts', name.slice(0, 2), name))
  world.file('third.png', picture(described, 3), at(11))
  world.file('between.png', picture(between, 3), at(10))
  await scan(world)
  t.hasStrict((await analyze(world)).json(), { analyzed: 2, reused: 2 })
})

t.test('S-025 S-166 every face tells of repeats, and a report tells when the earlier one was, not which', async (t) => {
  const world = await stage(t)
  await twoDescribed(world)
  await repeat(world)
  const told = must(await world.run(['shots', 'analyze']))
  t.match(told.stdout, 'as an earlier image')
  t.match(told.stdout, '1 analysed (1 as earlier images, unpaid)')
  const [first, again] = [rowOf(world, '0.png'), rowOf(world, 'again.png')]
  const status = must(await world.run(['shots', 'status', '--json'])).json()
  t.equal(status.screenshot_folder.analysis.reused_count, 1)
  t.match((await world.run(['shots', 'status'])).stdout,
    '3 succeeded (1 as earlier images, unpaid)')
  const shown = must(await world.run(['shots', 'show', again.observation_id, '--json'])).json()
  t.hasStrict(shown.analysis, {
    payload_of: first.observation_id, payload_captured_at: first.captured_at, cost_microusd: 0,
  })
  t.match((await world.run(['shots', 'show', again.observation_id])).stdout, first.observation_id)
  const period = ['--since', at(5), '--until', at(30)]
  const { report } = must(await world.run(['shots', 'report', '--json', ...period])).json()
  t.equal(report.course.reused, 1)
  t.strictSame(report.model_text.summaries.map((one: { as_at: unknown }) => one.as_at),
    [{ captured_at: first.captured_at, areas_ignored: false }])
  t.notMatch(JSON.stringify(report), first.observation_id)
  const page = must(await world.run(['shots', 'report', ...period])).stdout
  t.match(page, /as at 2026-11-\d\d \d\d:00/)
  t.match(page, '1  as an earlier image of the same looks, without a request')
  const receipt = await world.run(['receipt', 'export', again.observation_id, '--json'])
  t.hasStrict(receipt.error(), {
    code: 'no_receipt', reason: 'analysis_reused', details: { payload_of: first.observation_id },
  })
  await healthy(t, world)
})

t.test('S-072 where an area does not count, what is told of it may be of the earlier image, and is said to be', async (t) => {
  const world = await stage(t)
  await set(world, '--ignore', `${width}x${height}:0,0,64,16`)
  const withClock = (shade: number, clock: number): Buffer => greyPng(width, height, (x, y) =>
    (x < 64 && y < 16 ? clock : ((((x >> 4) + 3 * (y >> 4)) * 37 + shade * 101) * 53) & 255))
  world.file('0.png', withClock(described, 1), at(0))
  world.file('1.png', withClock(between, 60), at(1))
  world.file('2.png', withClock(described, 200), at(2))
  await scan(world)
  t.hasStrict((await analyze(world)).json(), { analyzed: 3, reused: 1 })
  const { report } = must(await world.run(
    ['shots', 'report', '--json', '--since', at(2), '--until', at(3)])).json()
  t.strictSame(report.model_text.summaries[0].as_at, { captured_at: at(0), areas_ignored: true })
})
