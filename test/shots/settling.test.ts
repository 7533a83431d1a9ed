/** While a region keeps changing one image in so many seconds is sent, the last one. */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs, systemClock } from '../../src/base/clock.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { must } from '../support/must.js'
import { analyze, healthy, rowOf, scan, sent, set } from '../support/shots.js'
import { at, change, desk, held, play, settled } from '../support/settling.js'
import { t } from '../support/tests-in-slices.js'
import type { AnalysisWorld } from '../world/world.js'

/** What became of each picture: `sent`, or the name of the one that stands for it. */
const ends = (world: AnalysisWorld): Record<string, string> => {
  const rows = world.rows()
  const nameOf = (row: Observation | undefined): string => row?.paths[0]?.name.text ?? '?'
  return Object.fromEntries(rows.map((row): [string, string] => [nameOf(row),
    row.stood_for_by === undefined ? row.analysis_status
      : nameOf(rows.find(({ observation_id: id }) => id === row.stood_for_by))]).sort())
}

t.test('S-145 of a video one picture in half a minute is sent, the others name the one that stands for them, and nobody is told to act', async (t) => {
  const world = await settled(t)
  await play(world, 8)
  for (const row of world.rows()) t.equal(row.analysis_status, 'pending', 'the scan holds nothing')
  const ran = must(await analyze(world))
  t.hasStrict(ran.json(), {
    status: 'ok', reason: null, scanned: 8, analyzed: 4, blocked: 4, unsettled: 4, failed: 0,
    next: [],
  })
  t.strictSame(ends(world), {
    '0.png': 'succeeded', '1.png': 'succeeded', '2.png': '4.png', '3.png': '4.png',
    '4.png': 'succeeded', '5.png': '7.png', '6.png': '7.png', '7.png': 'succeeded',
  })
  t.equal(sent(world), 4)
  t.hasStrict(rowOf(world, '2.png').analyzer, { reason: 'unsettled', contact: 'none', attempts: 0 })
  const shown = must(await world.run(
    ['shots', 'show', rowOf(world, '2.png').observation_id, '--json'])).json()
  t.equal(shown.stood_for_by, rowOf(world, '4.png').observation_id)
  t.equal(must(await world.run(['shots', 'status', '--json'])).json()
    .screenshot_folder.analysis.blocked_reasons[0].reason, 'unsettled', 'it is counted')
  const waiting = must(await world.run(['status', '--json'])).json()
  t.notMatch(JSON.stringify(waiting.waiting), 'blocked')
  await healthy(t, world)
})

t.test('no pass takes them up by itself, also where the setting is off; only who asks for them does', async (t) => {
  const world = await settled(t)
  await play(world, 8)
  must(await analyze(world))
  t.equal(sent(world), 4)
  await set(world, '--unset', 'settle_seconds')
  t.hasStrict(must(await analyze(world)).json(), { scanned: 0, restored: 0, passed_over: 4 })
  const bulk = await world.run(['shots', 'reanalyze', '--blocked', '--reason',
    'manual_operator_request', '--yes', '--json'])
  t.equal(sent(world), 4, bulk.stdout)
  const one = rowOf(world, '3.png').observation_id
  must(await world.run(['shots', 'reanalyze', one, '--reason', 'manual_operator_request']))
  t.equal(rowOf(world, '3.png').analysis_status, 'succeeded')
  t.equal(rowOf(world, '3.png').stood_for_by, undefined)
  await set(world, '--settle-seconds', '30')
  t.hasStrict(must(await analyze(world, '--include', 'unsettled')).json(), {
    scanned: 3, analyzed: 3, unsettled: 0, restored: 3, passed_over: 0,
  })
  t.equal(sent(world), 8)
  t.notOk(world.rows().some((row) => row.stood_for_by !== undefined))
  await healthy(t, world)
})

t.test('what was asked for comes first, as many as the pass may take', async (t) => {
  const world = await settled(t)
  await play(world, 6)
  must(await analyze(world))
  world.file('new.png', desk(null, { window: 9 }), at(400))
  await scan(world)
  t.hasStrict(must(await analyze(world, '--include', 'unsettled', '--limit', '2')).json(),
    { analyzed: 2, restored: 2, waiting: 1 })
  t.equal(rowOf(world, 'new.png').analysis_status, 'pending')
})

t.test('held images take no place of those that are sent', async (t) => {
  const world = await settled(t)
  await play(world, 8)
  t.hasStrict(must(await analyze(world, '--limit', '4')).json(), { analyzed: 4, unsettled: 4 })
})

t.test('off unless it is set: every picture of a video is sent', async (t) => {
  const world = await settled(t)
  await set(world, '--unset', 'settle_seconds')
  await play(world, 5)
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 5, unsettled: 0 })
})

/** What makes a picture one that nothing stands for; all three of its frames are sent then. */
const asked: Readonly<Record<string, (world: AnalysisWorld) => unknown>> = {
  'the next one lies further off than that': (world) => {
    world.file('3.png', desk(3), at(51))
  },
  'another window comes behind it': (world) => {
    world.file('3.png', desk(3, { window: 9 }), at(30))
  },
  'a single pixel elsewhere is another one in the later picture': (world) => {
    world.file('3.png', desk(3, { window: 1, dot: true }), at(30))
  },
  'the file of the later one is gone': (world) => {
    world.file('3.png', desk(3), at(30))
    return 'gone'
  },
  'the file of the one before it is gone': (world) => {
    world.file('3.png', desk(3), at(30))
    return 'before gone'
  },
}

for (const [why, go] of Object.entries(asked)) {
  t.test(`a picture is sent where ${why}`, async (t) => {
    const world = await settled(t)
    for (const i of [0, 1, 2]) world.file(`${i}.png`, desk(i === 0 ? null : i), at(10 * i))
    const did = go(world)
    await scan(world)
    if (did === 'gone') unlinkSync(join(world.folder, '3.png'))
    if (did === 'before gone') unlinkSync(join(world.folder, '1.png'))
    await analyze(world)
    t.equal(rowOf(world, '2.png').analysis_status, 'succeeded')
    t.equal(rowOf(world, '2.png').stood_for_by, undefined)
  })
}

t.test('where a video ends in what was described before, its last frame is sent', async (t) => {
  const world = await settled(t)
  await play(world, 3)
  world.file('3.png', desk(null, { level: 9 }), at(30))
  await scan(world)
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 4, reused: 1, unsettled: 0 })
  t.equal(rowOf(world, '2.png').analysis_status, 'succeeded')
})

t.test('a picture waits until the one that may stand for it can be there, one ahead of the clock does not', async (t) => {
  const world = await settled(t)
  const nowMs = systemClock.wallMs()
  world.file('old.png', desk(1), isoFromMs(nowMs - 120_000))
  world.file('young.png', desk(2, { window: 5 }), isoFromMs(nowMs - 2_000))
  world.file('ahead.png', desk(3, { window: 9 }), isoFromMs(nowMs + 3_600_000))
  await scan(world)
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 2, waiting: 1 })
  t.equal(rowOf(world, 'young.png').analysis_status, 'pending')
  await set(world, '--unset', 'settle_seconds')
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 1, waiting: 0 })
})

/** What may happen between the look and the record; then the picture is sent, or waits. */
const races: Readonly<Record<string, (world: AnalysisWorld) => Promise<unknown>>> = {
  'the setting is taken back': (world) => set(world, '--unset', 'settle_seconds'),
  'the setting is another one': (world) => set(world, '--settle-seconds', '60'),
  'the one that would stand for it is held itself': (world) => change(world, '4.png', held),
  'the one that would stand for it failed': (world) => change(world, '4.png', (row) =>
    ({ ...row, analysis_status: 'failed' })),
  'the one that would stand for it is archived': (world) => change(world, '4.png', (row) =>
    ({ ...row, archived_at: at(0) })),
  'it stands for another one by now': async (world) => {
    const { observation_id: id } = rowOf(world, '2.png')
    await change(world, '1.png', (row) => held(row, id))
  },
}

for (const [why, go] of Object.entries(races)) {
  t.test(`the record holds no picture where meanwhile ${why}`, async (t) => {
    const world = await settled(t)
    await play(world, 5)
    let raced = false
    await world.run(['shots', 'analyze', '--json'], {
      at: async (step) => {
        if (step !== 'analyze.unsettled' || raced) return
        raced = true
        await go(world)
      },
    })
    t.ok(raced)
    t.equal(rowOf(world, '2.png').analysis_status, 'succeeded', 'it is sent instead')
    await healthy(t, world)
  })
}

t.test('killed before its record a picture waits as it did, and the next pass holds it', async (t) => {
  const world = await settled(t)
  await play(world, 5)
  const ran = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: 'analyze.unsettled' }, coverage: false,
  })
  t.equal(ran.status, 137, ran.stderr)
  t.hasStrict(rowOf(world, '2.png'), { analysis_status: 'pending' })
  t.hasStrict(must(await analyze(world)).json(), { unsettled: 2 })
  t.strictSame(ends(world)['2.png'], '4.png')
  await healthy(t, world)
})

t.test('a picture that stands for another one is never held itself, whatever comes behind it later', async (t) => {
  const world = await settled(t)
  await play(world, 4)
  const { observation_id: last } = rowOf(world, '3.png')
  await change(world, '2.png', (row) => held(row, last))
  for (const i of [4, 5, 6]) world.file(`${i}.png`, desk(i), at(10 * i))
  await scan(world)
  must(await analyze(world))
  t.strictSame(ends(world), {
    '0.png': 'succeeded', '1.png': 'succeeded', '2.png': '3.png', '3.png': 'succeeded',
    '4.png': '6.png', '5.png': '6.png', '6.png': 'succeeded',
  })
})

t.test('one that is held stands for none: the next one that may does', async (t) => {
  const world = await settled(t)
  await play(world, 5)
  await change(world, '4.png', held)
  must(await analyze(world))
  t.equal(ends(world)['2.png'], '3.png')
})

t.test('one that was described in an earlier pass stands for what comes late, and is no repeat of itself', async (t) => {
  const world = await settled(t)
  for (const i of [0, 1, 3, 4]) world.file(`${i}.png`, desk(i === 0 ? null : i), at(10 * i))
  await scan(world)
  must(await analyze(world))
  t.equal(sent(world), 3)
  world.file('2.png', desk(2), at(20))
  await scan(world)
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 0, unsettled: 1 })
  t.equal(ends(world)['2.png'], '4.png')
  t.equal(sent(world), 3)
})

t.test('an estimate tells of each setting, and what would be held is counted as blocked', async (t) => {
  const world = await settled(t)
  await play(world, 8)
  const told = must(await world.run(['shots', 'estimate', '--json', '--day', '2026-11-20',
    '--time-zone', 'UTC'])).json()
  t.hasStrict(told, { images: 8, would_pay: 4, blocked: [{ reason: 'unsettled', count: 4 }] })
  t.strictSame(told.choices.map((one: Record<string, unknown>) =>
    [one['reuse'], one['settle_seconds'], one['in_force'], one['calls']]), [
    ['on', null, false, 8], ['off', null, false, 8], ['on', 30, true, 4], ['on', 60, false, 3],
  ])
  must(await analyze(world))
  t.equal(sent(world), 4)
  await set(world, '--reuse', 'off', '--settle-seconds', '20')
  const other = must(await world.run(['shots', 'estimate', '--json', '--day', '2026-11-20',
    '--time-zone', 'UTC'])).json()
  t.strictSame(other.choices.filter((one: Record<string, unknown>) => one['in_force'])
    .map((one: Record<string, unknown>) => [one['reuse'], one['settle_seconds']]), [['off', 20]])
})
