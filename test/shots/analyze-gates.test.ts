/** Limits, windows and gates of the analysis, over the program and the sandbox. */
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'
import { analyze, healthy, nextImage, rowOf, scan, sent, set } from '../support/shots.js'
import { keptOf } from '../support/kept.js'
import { t } from '../support/tests-in-slices.js'

t.test('limits, windows and gates', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  for (let n = 0; n < 6; n += 1) world.file(`${n}.png`, nextImage(), `2026-11-20T10:0${n}:00.000Z`)
  await scan(world)
  const back = keptOf(world)
  const one = { SCREENSHOT_FOLDER_ANALYSIS_LIMIT: '1' }

  await t.test('S-132 a pass takes at most the limit, oldest first', async (t) => {
    const ran = await world.run(['shots', 'analyze', '--json'], { env: one })
    t.hasStrict(ran.json(), { limit: 1, analyzed: 1 })
    t.equal(rowOf(world, '0.png').analysis_status, 'succeeded')
    t.equal(rowOf(world, '1.png').analysis_status, 'pending')
  })

  await t.test('S-208 S-133 a tick takes at most the window, whatever the limit', async (t) => {
    back()
    await world.run(['shots', 'analyze', '--json'], { env: one })
    const env = {
      SCREENSHOT_FOLDER_ANALYSIS_LIMIT: '50', SCREENSHOT_FOLDER_ANALYSIS_CONCURRENCY: '3',
      SCREENSHOT_FOLDER_ANALYSIS_JOB_TIMEOUT_SECONDS: '120',
    }
    const before = sent(world)
    const ran = await world.run(['shots', 'run', '--once', '--json'], { env })
    t.equal(sent(world), before + 3, ran.stdout)
    t.equal(rowOf(world, '3.png').analysis_status, 'succeeded')
    t.equal(rowOf(world, '4.png').analysis_status, 'pending')
  })

  const closings: readonly (readonly [string, string[], string[], string])[] = [
    ['S-008', ['--analysis', 'off'], ['--analysis', 'on'], 'analysis_off'],
    ['S-009', ['--cloud-upload', 'off'], ['--cloud-upload', 'on'], 'cloud_upload_off'],
    ['S-013', ['--fallbacks', 'allow'], ['--fallbacks', 'deny'], 'fallbacks_not_denied'],
    [
      'S-014', ['--data-collection', 'allow'], ['--data-collection', 'deny'],
      'data_collection_not_denied',
    ],
    ['S-015', ['--zdr', 'off'], ['--zdr', 'on'], 'zdr_not_on'],
    [
      'S-016', ['--budget-requests', '1'], ['--budget-requests', '1000'], 'budget_exhausted',
    ],
    [
      'S-016', ['--budget-microusd', '1'], ['--budget-microusd', '1000000'],
      'budget_below_bound',
    ],
  ]
  await t.test('S-132 the rest follows', async (t) => {
    back()
    for (let n = 0; n < 4; n += 1) {
      await world.run(['shots', 'analyze', '--json'], { env: one })
    }
    t.equal((await analyze(world)).json().analyzed, 2)
  })
  back()
  await analyze(world)
  const analysed = keptOf(world)
  for (const [id, close, open, reason] of closings) {
    await t.test(`${id} S-017 S-021 S-205 ${reason} alone sends nothing, and is mended`, async (t) => {
      analysed()
      const name = `${reason}.png`
      world.file(name, nextImage())
      await scan(world)
      const before = world.calls().length
      await set(world, ...close)
      const ran = await analyze(world)
      t.equal(ran.status, reason === 'budget_exhausted' ? 8 : 7, ran.stderr)
      t.hasStrict(rowOf(world, name), {
        analysis_status: 'blocked', analyzer: { reason, contact: 'none' }, payload: null,
        width: 64, height: 48, format: 'png',
      })
      const shown = await world.run(['shots', 'list', '--json'])
      t.match(shown.stdout, reason, 'the reason is visible')
      t.equal((await analyze(world)).json().restored, 0)
      t.equal(world.calls().length, before)
      await set(world, ...open)
      t.hasStrict((await analyze(world)).json(), { restored: 1, analyzed: 1 })
      t.equal(rowOf(world, name).analysis_status, 'succeeded', 'without a new capture')
      t.equal(world.calls().length, before + 1)
    })
  }

  await healthy(t, world)
})

t.test('S-147 S-148 S-017 a scan with a closed route blocks each image, none is pending', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await set(world, '--zdr', 'off')
  for (let n = 0; n < 40; n += 1) world.file(`${n}.png`, nextImage())
  await scan(world)
  const rows = world.rows()
  t.equal(rows.length, 40)
  t.ok(rows.every((row) => row.analysis_status === 'blocked'))
  t.ok(rows.every((row) => row.analyzer.reason === 'zdr_not_on'))
  const status = await world.run(['shots', 'status', '--json'])
  t.match(status.stdout, 'zdr_not_on')
  t.equal(world.calls().length, 0)
})

t.test('S-021 S-205 what was taken in before the consent waits for a person', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  await set(world, '--cloud-upload', 'off')
  world.file('old.png', nextImage())
  await scan(world)
  await world.run(['gateway', 'setup', '--remove-slot', 'screenshot'])
  const widened = await world.widen([
    '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
  ])
  t.equal(widened.status, 0, widened.stderr)
  await set(world, '--cloud-upload', 'on')
  t.equal((await world.prove('screenshot')).status, 0)
  world.file('new.png', nextImage())
  await scan(world)
  const ran = await analyze(world)
  t.hasStrict(ran.json(), { analyzed: 1, scanned: 1 })
  t.hasStrict(rowOf(world, 'old.png'), {
    analysis_status: 'blocked', analyzer: { reason: 'before_consent' },
  })
  t.equal(rowOf(world, 'new.png').analysis_status, 'succeeded')
  const before = sent(world)
  t.hasStrict((await analyze(world)).json(), { scanned: 0 })
  t.equal(sent(world), before)
  const bulk = await world.run([
    'shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes', '--json',
  ])
  t.equal(bulk.status, 0, bulk.stderr)
  t.match(bulk.stderr, /1 found, 1 would be sent/)
  t.match(bulk.stderr, /at most \$0\.10 \(100,000 µUSD\)/)
  t.equal(rowOf(world, 'old.png').analysis_status, 'succeeded')
  await healthy(t, world)
})
