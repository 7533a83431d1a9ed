/** `shots report`: what it holds, where its page may lie, and that it asks nobody. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { timeZoneOf } from '../../src/observations/zone.js'
import { capturedAtOf } from '../../src/shots/scan/captured-at.js'
import { observationOf } from '../support/observations.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

const hostile = '<img src=x onerror=alert(1)>.png'

t.test('a period with everything in it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const report = (...flags: string[]) =>
    world.run(['shots', 'report', '--json', '--since', moment(20), ...flags])
  const [first, second] = await world.analysed(
    { name: 'sub/a.png', at: moment(2, 1), says: { snippets: ['VISIBLE-SNIPPET'] } },
    {
      name: hostile, at: moment(2, 9), row: { analysis_status: 'needs_reanalysis' },
      payload: { model: 'gateway/acme/older' },
      says: { summary: 'An <b>order</b>: delete everything.' },
    },
  )
  const excluded = [
    observationOf(world.folder, 'missing.png', {
      captured_at: moment(3), classification: 'source_missing',
    }),
    observationOf('/elsewhere/shots', 'stale.png', { captured_at: moment(3, 1) }),
    observationOf(world.folder, 'archived.png', {
      captured_at: moment(3, 2), archived_at: moment(2),
    }),
  ]
  await world.put(
    ...excluded,
    observationOf(world.folder, 'blocked.png', {
      captured_at: moment(2, 20), format: 'jpeg', width: null, height: null, bytes: 99,
    }),
  )
  world.say('A digest with <i>markup</i>.')
  await world.digest()
  const asked = world.asked().length
  const ran = await report()
  const made = ran.json().report

  await t.test('S-025 the facts are name, format, dimensions and size; no hash, path or visible text is anywhere in it', async (t) => {
    t.equal(ran.status, 0, ran.stderr)
    t.strictSame(made.facts.observations, [
      { filename: 'a.png', format: 'png', width: 64, height: 48, bytes: 1234 },
      { filename: hostile, format: 'png', width: 64, height: 48, bytes: 1234 },
      { filename: 'blocked.png', format: 'jpeg', width: null, height: null, bytes: 99 },
    ])
    const text = (await world.run(['shots', 'report', '--since', moment(20)])).stdout
    for (const whole of [ran.stdout, text]) {
      t.notMatch(whole, first?.sha256 ?? '')
      t.notMatch(whole, world.folder)
      t.notMatch(whole, 'VISIBLE-SNIPPET')
    }
  })

  await t.test('S-024 S-026 S-060 S-107 summaries and digests are what the model wrote, labelled; provenance has the digest count and the source ids', async (t) => {
    t.strictSame(made.provenance.sources, ['screenshot_folder'])
    t.strictSame(made.model_text.summaries.map((one: { text: string }) => one.text), [
      'The screen shows sub/a.png.', 'An <b>order</b>: delete everything.',
    ])
    t.strictSame(
      made.model_text.summaries.map((one: { outdated: boolean }) => one.outdated), [false, true]
    )
    t.hasStrict(made.model_text.digests, [{
      text: 'A digest with <i>markup</i>.', model: 'gateway/acme/report-1', outdated: false,
    }])
    t.equal(made.model_text.conclusion, null)
    t.equal(made.provenance.digest_count, 1)
    t.strictSame(made.provenance.digests[0].source_observation_ids, [
      first?.observation_id, second?.observation_id,
    ])
    t.hasStrict(made.course.spend, { budget_microusd: 1_000_000, requests: 2 })
  })

  await t.test('S-166 rows that are missing, of an older root or archived, and digests that rest on them, are left out and counted', async (t) => {
    t.strictSame(made.provenance.excluded, {
      source_missing: 1, stale_root: 1, archived: 1, digests: 0,
    })
    for (const row of excluded) {
      t.notOk(made.provenance.source_observation_ids.includes(row.observation_id))
      t.notMatch(ran.stdout, row.paths[0]?.name.text ?? '')
    }
    await world.change(first?.observation_id ?? '', { classification: 'source_missing' })
    const later = (await report()).json().report
    t.equal(later.provenance.digest_count, 0)
    t.equal(later.provenance.excluded.digests, 1)
    t.notMatch(JSON.stringify(later), first?.observation_id ?? '')
    await world.change(first?.observation_id ?? '', { classification: null })
  })

  await t.test('a digest stays, told as of before, where one of its images was asked about again and failed: its analysis of before stays, too', async (t) => {
    const { observation_id: id, analysis_status, payload } = first ?? observationOf('/x', 'x')
    await world.change(id, {
      analysis_status: 'failed', payload: payload && { ...payload, earlier: true },
    })
    const { model_text: told, provenance } = (await report()).json().report
    t.hasStrict(told.digests, [{ text: 'A digest with <i>markup</i>.', outdated: true }])
    t.equal(provenance.excluded.digests, 0)
    await world.change(id, { analysis_status, payload })
  })

  await t.test('S-024 S-025 the page is a new file of mode 600 with every name escaped; it never replaces one', async (t) => {
    const page = world.place.path('day.html')
    const written = await report('--html', 'day.html')
    t.equal(written.status, 0, written.stderr)
    t.equal(written.json().html_file, page)
    t.equal(statSync(page).mode & 0o777, 0o600)
    const html = readFileSync(page, 'utf8')
    t.notMatch(html, hostile)
    t.match(html, '&lt;img src=x onerror=alert(1)&gt;.png')
    t.match(html, 'A digest with &lt;i&gt;markup&lt;/i&gt;.')
    t.notMatch(html, first?.sha256 ?? '')
    t.notMatch(html, world.folder)
    t.hasStrict((await report('--html', 'day.html')).error(), { code: 'file_exists', status: 409 })
    t.equal(readFileSync(page, 'utf8'), html)
    symlinkSync(world.place.path('elsewhere.html'), world.place.path('link.html'))
    t.equal((await report('--html', 'link.html')).error().code, 'file_exists')
    t.notOk(existsSync(world.place.path('elsewhere.html')), 'no link is followed')
    t.equal((await report('--html', 'no/such/day.html')).error().code, 'report_folder_missing')
  })

  await t.test('a page is never written among the images, through whatever name, nor into the state', async (t) => {
    mkdirSync(join(world.folder, 'deep'))
    symlinkSync(world.folder, world.place.path('alias'))
    for (const path of [
      join(world.folder, 'r.html'), join(world.folder, 'deep', 'r.html'), 'alias/r.html',
      'alias/deep/../r.html',
    ]) {
      const ran = await report('--html', path)
      t.equal(ran.error().code, 'report_inside_root', path)
      t.equal(ran.status, 3)
    }
    t.notOk(existsSync(join(world.folder, 'r.html')))
    const inState = await report('--html', join(world.place.stateDir, 'r.html'))
    t.equal(inState.error().code, 'report_inside_state')
    const env = { SVC_SCREENSHOT_FOLDER: world.place.path('other') }
    mkdirSync(env.SVC_SCREENSHOT_FOLDER)
    const watched = await world.run(
      ['shots', 'report', '--json', '--html', 'other/r.html'], { env },
    )
    t.equal(watched.error().code, 'report_inside_root')
  })

  await t.test('a report asks nobody, needs no session, changes no byte and refuses an empty period', async (t) => {
    t.equal(world.asked().length, asked)
    t.equal((await report('--until', moment(21))).error().code, 'period_empty')
    t.equal((await report('--retry')).status, 2)
    const small = (await report('--until', moment(10))).json().report
    t.equal(small.facts.count, 0)
    await world.run(['logout'])
    t.equal((await report()).status, 0)
  })
})

t.test('S-024 S-068 a run is reported in each period that has an image of it, and outside of those nowhere', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const at = (time: string): string => `2026-11-20T${time}:00.000Z`
  const run = (quarters: Record<string, number>, last: string) => ({
    representative_path: 'a.png', first_seen: at('07:50'), last_seen: at(last),
    suppressed_count: Object.values(quarters).reduce((sum, images) => sum + images, 0),
    latest_suppressed_path: 'z.png', reason_counts: {}, quarter_counts: quarters,
  })
  await world.put(
    observationOf(world.folder, 'a.png', {
      captured_at: at('07:50'),
      screenshot_visual_run: run({
        [at('07:45')]: 1, [at('08:00')]: 2, [at('08:15')]: 1,
      }, '08:16'),
    }),
    observationOf(world.folder, 'old.png', {
      captured_at: at('07:52'),
      // A run of an earlier version knows no times.
      screenshot_visual_run: {
        ...run({}, '08:20'), suppressed_count: 2, quarter_counts: undefined,
      },
    }),
    observationOf(world.folder, 'gone.png', {
      captured_at: at('07:40'), classification: 'source_missing',
      screenshot_visual_run: run({ [at('08:30')]: 1 }, '08:31'),
    }),
  )
  const told = async (since: string, until: string) => {
    const ran = await world.run([
      'shots', 'report', '--json', '--since', at(since), '--until', at(until),
    ], { env: { TZ: 'UTC' } })
    const { course, facts, provenance } = ran.json().report
    return {
      files: facts.count, images: course.image_count, hours: course.hours.slice(7, 10),
      missing: provenance.excluded.source_missing,
    }
  }
  t.strictSame(await told('07:00', '08:00'), { files: 2, images: 5, hours: [5, 0, 0], missing: 1 })
  t.strictSame(await told('08:00', '09:00'), { files: 1, images: 3, hours: [0, 3, 0], missing: 1 })
  t.strictSame(await told('09:00', '10:00'), { files: 0, images: 0, hours: [0, 0, 0], missing: 0 })
  t.strictSame(await told('07:51', '08:10'), { files: 2, images: 5, hours: [3, 2, 0], missing: 0 })
})

t.test('S-024 S-026 the newest screens with an analysis are told, however many newer ones have none', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const second = (n: number): string => new Date(Date.UTC(2026, 10, 20, 8, 0, n)).toISOString()
  const told = Array.from({ length: 3 }, (_, n) => ({ name: `told-${n}.png`, at: second(n) }))
  await world.analysed(...told)
  await world.put(...Array.from({ length: 501 }, (_, n) => observationOf(
    world.folder, `waits-${n}.png`,
    { captured_at: second(10 + n), analysis_status: 'pending' })))
  const period = ['--since', '2026-11-20T08:00Z', '--until', '2026-11-20T09:00Z']
  const ran = await world.run(['shots', 'report', '--json', ...period, '--html', 'day.html'])
  const { facts, model_text: { summaries, summary_count: all } } = ran.json().report
  t.equal(facts.count, 504)
  t.strictSame(summaries.map((one: { text: string }) => one.text),
    told.map(({ name }) => `The screen shows ${name}.`))
  t.equal(all, 3)
  const page = readFileSync(world.place.path('day.html'), 'utf8')
  t.match(page, 'The screen shows told-2.png.')
  t.notMatch(page, 'screenshots with an analysis have their summary here')
  t.match((await world.run(['shots', 'report', ...period])).stdout, 'The screen shows told-0.png.')
})

t.test('a day without a time begins in the zone in which the report tells days', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const day = ['shots', 'report', '--since', '2026-11-01', '--until', '2026-11-02']
  const env = { TZ: 'America/New_York' }
  const ran = await world.run([...day, '--json'], { env })
  t.strictSame(ran.json().report.period, {
    since: '2026-11-01T04:00:00.000Z', until: '2026-11-02T05:00:00.000Z',
    time_zone: 'America/New_York', kind: null, name: null,
  })
  t.match((await world.run(day, { env })).stdout, '2026-11-01 00:00 to 2026-11-02 00:00, America')
  const utc = await world.run([...day, '--json'], { env: { TZ: 'UTC' } })
  t.hasStrict(utc.json().report.period, { since: '2026-11-01T00:00:00.000Z' })
  for (const none of ['2026-02-30', '2026-02-30T10:00Z', '2026-02-30T10:00+14:00']) {
    const wrong = await world.run(['shots', 'report', '--since', none, '--json'])
    t.hasStrict(wrong.error(), { code: 'flag_invalid' }, 'no other day is taken for it')
  }
  const colon = await world.run([...day, '--json'], { env: { TZ: ':America/New_York' } })
  t.hasStrict(colon.json().report.period, { since: '2026-11-01T04:00:00.000Z' },
    'POSIX begins a zone with a colon')
  const file = { TZ: ':/usr/share/zoneinfo/America/New_York' }
  t.hasStrict((await world.run([...day, '--json'], { env: file })).json().report.period,
    { since: '2026-11-01T04:00:00.000Z' }, 'or names the file of one')
  t.equal(timeZoneOf({ TZ: ':/etc/localtime' }), timeZoneOf({}), 'or what the machine says')
})

t.test('S-063 times at the ends of the calendar are kept within it, and a report over all of it ends', async (t) => {
  t.equal(capturedAtOf(10n ** 30n), '9999-12-31T23:59:59.999Z')
  t.equal(capturedAtOf(-(10n ** 30n)), '0000-01-01T00:00:00.000Z')
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const last = '9999-12-31T23:59:59.998Z'
  await world.put(
    observationOf(world.folder, 'first.png', { captured_at: '0000-01-01T00:00:00.000Z' }),
    observationOf(world.folder, 'last.png', {
      captured_at: last,
      screenshot_visual_run: {
        representative_path: 'last.png', first_seen: last, last_seen: last, suppressed_count: 1,
        latest_suppressed_path: 'b.png', reason_counts: {},
        quarter_counts: { '9999-12-31T23:45:00.000Z': 1 },
      },
    }),
  )
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/New_York']) {
    const ran = await world.run([
      'shots', 'report', '--json', '--since', '0000-01-01T00:00+14:00',
      '--until', '9999-12-31T23:59:59.999-12:00', '--html', `${zone.slice(0, 3)}.html`,
    ], { env: { TZ: zone } })
    t.equal(ran.status, 0, ran.stderr)
    const { facts, course } = ran.json().report
    t.strictSame([facts.count, course.image_count], [2, 3], zone)
    t.match((await world.run(['shots', 'report', '--since', '0000-01-01'], {
      env: { TZ: zone },
    })).stdout, '1 observation of 1 image')
  }
})
