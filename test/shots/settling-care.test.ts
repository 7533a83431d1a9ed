/** Images that are held for later ones: what is sent although a region goes on changing. */
import { isoFromMs, systemClock } from '../../src/base/clock.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { prepareImage } from '../../src/shots/analysis/one.js'
import { isYoung, Settling } from '../../src/shots/analysis/settling.js'
import { makeExaminer } from '../../src/shots/scan/examiner.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { analyze, healthy, rowOf, scan, sent } from '../support/shots.js'
import { at, change, desk, held, play, settled } from '../support/settling.js'
import { t } from '../support/tests-in-slices.js'

t.test('the last frame of a video is sent also where repeats are asked about: its end shows what this pass described', async (t) => {
  const world = await settled(t, '--reuse', 'off')
  await play(world, 5)
  world.file('a.png', desk(null, { window: 9 }), at(100))
  for (const i of [1, 2, 3]) world.file(`a${i}.png`, desk(i, { window: 9 }), at(100 + 10 * i))
  world.file('b.png', desk(null, { window: 9, level: 9 }), at(140))
  await scan(world)
  must(await analyze(world))
  t.equal(rowOf(world, 'a3.png').analysis_status, 'succeeded')
  t.equal(rowOf(world, 'a3.png').stood_for_by, undefined)
})

t.test('a picture that stands for one of the same moment is not held itself', async (t) => {
  const world = await settled(t)
  for (const i of [0, 1]) world.file(`${i}.png`, desk(i === 0 ? null : i), at(10 * i))
  for (const i of [2, 3]) world.file(`${i}.png`, desk(i), at(20))
  world.file('4.png', desk(4), at(30))
  await scan(world)
  const [first, second] = world.rows().filter(({ captured_at: time }) => time === at(20))
    .map(({ paths }) => paths[0]!.name.text)
  const { observation_id: by } = rowOf(world, second!)
  await change(world, first!, (row) => held(row, by))
  must(await analyze(world))
  t.equal(rowOf(world, second!).analysis_status, 'succeeded')
})

t.test('what may not leave itself stands for nothing: nobody would tell of either', async (t) => {
  const world = await settled(t)
  await play(world, 3)
  world.file('3.png', Buffer.concat([desk(3), Buffer.from('behind the end')]), at(30))
  await scan(world)
  await analyze(world)
  t.equal(rowOf(world, '3.png').analyzer.reason, 'image_goes_on')
  t.equal(rowOf(world, '2.png').analysis_status, 'succeeded')
})

t.test('what waits from before the consent stands for nothing, and is not held', async (t) => {
  const world = await settled(t)
  await play(world, 4)
  const early = (row: Observation): Observation =>
    ({ ...row, observed_revision: 0, observed_at: '2020-01-01T00:00:00.000Z' })
  await change(world, '3.png', early)
  await analyze(world)
  t.equal(rowOf(world, '3.png').analyzer.reason, 'before_consent')
  t.equal(rowOf(world, '2.png').analysis_status, 'succeeded')
  const other = await settled(t)
  await play(other, 4)
  await change(other, '2.png', early)
  await analyze(other)
  t.equal(rowOf(other, '2.png').analyzer.reason, 'before_consent', 'gates come first')
})

t.test('what was sent before and is not known stands for nothing', async (t) => {
  const world = await settled(t)
  await play(world, 4)
  await change(world, '3.png', (row) => ({
    ...row, analyzer: { ...row.analyzer, contact: 'uncertain' },
  }))
  await analyze(world)
  t.equal(rowOf(world, '2.png').analysis_status, 'succeeded')
  t.equal(sent(world), 3)
})

t.test('what is held from before the consent stays held, also for who asks for it', async (t) => {
  const world = await settled(t)
  await play(world, 5)
  must(await analyze(world))
  const count = sent(world)
  await change(world, '2.png', (row) =>
    ({ ...row, observed_revision: 0, observed_at: '2020-01-01T00:00:00.000Z' }))
  const before = rowOf(world, '2.png')
  t.hasStrict((await analyze(world, '--include', 'unsettled')).json(), { restored: 1 })
  t.strictSame(rowOf(world, '2.png'), before)
  t.equal(sent(world), count + 1)
})

t.test('an estimate holds nothing for what stands for nothing', async (t) => {
  const world = await settled(t)
  await play(world, 4)
  await change(world, '3.png', (row) => ({
    ...row, analysis_status: 'blocked', analyzer: { ...row.analyzer, reason: 'image_damaged' },
  }))
  const told = must(await world.run(['shots', 'estimate', '--json', '--day', '2026-11-20',
    '--time-zone', 'UTC'])).json()
  must(await analyze(world))
  t.equal(sent(world), 3)
  t.hasStrict(told, { would_pay: 3, blocked: [{ reason: 'image_damaged', count: 1 }] })
})

t.test('while the gateway is left alone nothing that is held is taken up', async (t) => {
  const world = await settled(t)
  await play(world, 5)
  must(await analyze(world))
  const held = rowOf(world, '2.png')
  t.equal(held.analyzer.reason, 'unsettled')
  world.file('new.png', desk(null, { window: 9 }), at(400))
  await scan(world)
  const type = { 'content-type': 'application/json' }
  world.sandbox.faults.reply(
    { status: 503, body: '{"error":{"code":1,"message":"no"}}', headers: type },
    { service: 'gateway', times: 1 })
  await analyze(world)
  const ran = await analyze(world, '--include', 'unsettled')
  t.hasStrict(ran.json(), { status: 'blocked', restored: 0 })
  t.strictSame(rowOf(world, '2.png'), held)
  await healthy(t, world)
})

t.test('a picture from far ahead of a clock that was set back waits for nothing', async (t) => {
  const nowMs = systemClock.wallMs()
  const young = (aheadMs: number): boolean => isYoung(
    { captured_in_future: false, captured_at: isoFromMs(nowMs + aheadMs) },
    30, nowMs)
  t.ok(young(-29_000))
  t.ok(young(29_000))
  t.notOk(young(-30_000))
  t.notOk(young(86_400_000))
  t.notOk(isYoung({ captured_in_future: true, captured_at: isoFromMs(nowMs) }, 30, nowMs),
    'nothing stands for one whose time is not believed, so it waits for none')
})

t.test('each picture is looked into once for all around it, as many as they are', async (t) => {
  const world = await settled(t)
  for (let i = 0; i < 100; i += 1) world.file(`${i}.png`, image(i), at(i))
  await scan(world)
  const rows = world.rows().sort((a, b) => (a.captured_at < b.captured_at ? -1 : 1))
  t.equal(rows.length, 100)
  const ctx = world.ctx('read')
  const examiner = makeExaminer()
  let looks = 0
  const counting: typeof examiner = {
    ...examiner, examine: (bytes) => {
      looks += 1
      return examiner.examine(bytes)
    },
  }
  const settling = new Settling(ctx, counting, {
    seconds: 600, described: { find: async () => null },
  })
  for (const row of rows) {
    const { verdict } = await prepareImage(
      ctx, row, { recursive: false, examiner, released: false })
    if (verdict.kind === 'ready') await settling.find({ row, image: verdict })
  }
  await examiner.close()
  ctx.gov.store.close()
  t.ok(looks > 64 && looks <= 100, String(looks))
})
