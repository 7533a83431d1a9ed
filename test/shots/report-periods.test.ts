/** Days, weeks and months: `shots report --day`, `--week`, `--month`, and pages side by side. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beside, daysWithin, periodNamed, periodTitle } from '../../src/observations/periods.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

const env = { TZ: 'Europe/Berlin' }

const at = (day: number, hour: number, minute = 0): string =>
  new Date(Date.UTC(2026, 10, day, hour, minute)).toISOString()

const says = (n: number) => ({
  activity: n % 2 === 0 ? 'coding' : 'reading', applications: ['Editor'],
  project: n % 3 === 0 ? 'harbour' : null,
})

const described = async (test: Parameters<typeof World.in>[0]) => {
  const world = await World.in(test).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const put = (...times: readonly string[]) =>
    world.analysed(...times.map((time, n) => ({ name: `${time}.png`, at: time, says: says(n) })))
  const report = async (...flags: string[]) =>
    world.run(['shots', 'report', '--json', ...flags], { env })
  return { world, put, report }
}

t.test('a report of a day, a week from Monday or a month is over the whole of it in the zone, and says which it is', async (t) => {
  const { world, report } = await described(t)
  const periodOf = async (...flags: string[]) => (await report(...flags)).json().report.period
  t.strictSame(await periodOf('--day', '2026-11-20'), {
    since: '2026-11-19T23:00:00.000Z', until: '2026-11-20T23:00:00.000Z',
    time_zone: 'Europe/Berlin', kind: 'day', name: '2026-11-20',
  })
  t.strictSame(await periodOf('--week', '2026-11-22'), {
    since: '2026-11-15T23:00:00.000Z', until: '2026-11-22T23:00:00.000Z',
    time_zone: 'Europe/Berlin', kind: 'week', name: '2026-W47',
  })
  t.strictSame(await periodOf('--month', '2026-03-31'), {
    since: '2026-02-28T23:00:00.000Z', until: '2026-03-31T22:00:00.000Z',
    time_zone: 'Europe/Berlin', kind: 'month', name: '2026-03',
  }, 'over the night in which clocks change')
  t.equal((await periodOf('--day')).name, (await periodOf('--day', 'today')).name)
  t.equal((await periodOf('--week')).name, (await periodOf('--week', 'today')).name)
  t.hasStrict((await report('--month', '2026-13-01')).error(), { code: 'day_invalid' })
  for (const flags of [['--day', '--week'], ['--month', '--since', '2026-11-20']]) {
    const ran = await report(...flags)
    t.equal(ran.status, 2)
    t.equal(ran.error().code, 'periods_together')
  }
  t.match((await world.run(['shots', 'report', '--week', '2026-11-20'], { env })).stdout,
    /^Screenshots of week 47 of 2026, 16 November to 22 November\n/)
})

t.test('time of a day is the same in its report, in that of its week and in `shots day`, and the sum of a week is that of its days', async (t) => {
  const { world, put, report } = await described(t)
  await put(at(17, 9), at(17, 9, 3), at(17, 22, 58), at(17, 23, 2), at(18, 7, 0), at(19, 12, 0))
  const timeOf = async (...flags: string[]) =>
    (await report(...flags)).json().report.model_text.time
  const week = await timeOf('--week', '2026-11-18')
  t.equal(week.days.length, 3)
  t.equal(week.seconds, week.days.reduce((sum: number, one: { seconds: number }) =>
    sum + one.seconds, 0))
  for (const { day, ...sums } of week.days) {
    const alone = await timeOf('--day', day)
    t.hasStrict(alone, sums, day)
    const told = (await world.run(['shots', 'day', day, '--json'], { env })).json()
    t.equal(told.seconds, alone.seconds, day)
    t.strictSame(told.time, {
      activity: alone.activity, application: alone.application, project: alone.project,
    }, day)
  }
})

t.test('time is summed over every described screenshot of a period, however many there are; one that cannot be read does not count', async (t) => {
  const { world, put, report } = await described(t)
  const times = Array.from({ length: 620 }, (_, n) => at(20, 6, n))
  await put(...times)
  const told = async () => (await report('--day', '2026-11-20')).json().report
  const all = await told()
  t.equal(all.model_text.summaries.length, 500, 'summaries stay those of the newest')
  t.equal(all.model_text.time.observation_count, 620)
  t.equal(all.model_text.time.seconds, 619 * 60 + 300)
  const row = world.rows().find(({ captured_at: one }) => one === times[1])
  await world.change(row?.observation_id ?? '', {
    payload: { ...row?.payload, artifact_id: 'art_gone' } as never,
  })
  const less = await told()
  t.equal(less.model_text.time.observation_count, 619)
  t.equal(less.model_text.time.seconds, all.model_text.time.seconds - 60)
  t.equal(less.model_text.summary_count, 620)
  const newest = world.rows().find(({ captured_at: one }) => one === times.at(-1))
  await world.change(newest?.observation_id ?? '', {
    payload: { ...newest?.payload, artifact_id: 'art_gone' } as never,
  })
  t.not((await report('--day', '2026-11-20')).status, 0, 'where its summary is told it is an error')
})

t.test('pages in a folder have stable names and lead to each other: what is there, what comes, and nothing that is missing', async (t) => {
  const { world, put, report } = await described(t)
  await put(at(18, 9), at(19, 9), at(20, 9))
  const folder = world.place.path('pages')
  mkdirSync(folder)
  const page = async (name: string, ...flags: string[]): Promise<string> => {
    const ran = await report(...flags, '--html', 'pages')
    t.equal(ran.status, 0, ran.stderr)
    t.equal(ran.json().html_file, join(folder, name))
    return readFileSync(join(folder, name), 'utf8').replace(/\s+/g, ' ')
  }
  const linksOf = (text: string): string[] =>
    [...text.matchAll(/href="(\.\/[^"]*)"/g)].map(([, to]) => to ?? '')
  const first = await page('screenshots-2026-11-19.html', '--day', '2026-11-19')
  t.strictSame(linksOf(first), ['./screenshots-2026-11-20.html'])
  t.match(first, '</a> <small>(works once that page is made)</small>')
  const second = await page('screenshots-2026-11-20.html', '--day', '2026-11-20')
  t.strictSame(linksOf(second),
    ['./screenshots-2026-11-19.html', './screenshots-2026-11-21.html'])
  const week = await page('screenshots-2026-W47.html', '--week', '2026-11-20')
  t.strictSame(linksOf(week), ['./screenshots-2026-W48.html', './screenshots-2026-11-19.html',
    './screenshots-2026-11-20.html'], 'days have the pages that are there')
  rmSync(join(folder, 'screenshots-2026-11-19.html'))
  writeFileSync(join(folder, 'screenshots-2026-11-21.html'), '')
  rmSync(join(folder, 'screenshots-2026-11-20.html'))
  const again = await page('screenshots-2026-11-20.html', '--day', '2026-11-20')
  t.strictSame(linksOf(again), ['./screenshots-2026-11-21.html', './screenshots-2026-W47.html'])
  t.notMatch(again, 'works once')
  const taken = (await report('--day', '2026-11-20', '--html', 'pages')).error()
  t.strictSame([taken.code, /Name a file for a new one/.test(taken.hint ?? '')],
    ['file_exists', true])
  t.equal((await report('--since', '2026-11-20', '--html', 'pages')).error().code, 'file_exists',
    'a period without a name has no file there')
  const ran = await report('--day', '2026-11-20', '--html', 'other.html')
  t.strictSame(linksOf(readFileSync(ran.json().html_file, 'utf8')), [],
    'a page of another name stands alone')
  t.equal((await report('--day', '2026-11-20', '--html', world.folder)).error().code,
    'report_inside_root')
})

t.test('weeks are those of ISO 8601, months end where they end, and periods follow each other', async (t) => {
  const week = (day: string) => periodNamed('week', day)
  t.hasStrict(week('2026-01-01'), { name: '2026-W01', first: '2025-12-29', last: '2026-01-04' })
  t.hasStrict(week('2027-01-03'), { name: '2026-W53', first: '2026-12-28', last: '2027-01-03' })
  t.hasStrict(week('2024-12-30'), { name: '2025-W01', first: '2024-12-30' })
  t.hasStrict(periodNamed('month', '2024-02-10'), { first: '2024-02-01', last: '2024-02-29' })
  t.hasStrict(periodNamed('month', '2026-12-31'), { first: '2026-12-01', last: '2026-12-31' })
  const { before, behind } = beside(periodNamed('month', '2026-01-15'))
  t.strictSame([before.name, behind.name], ['2025-12', '2026-02'])
  t.equal(daysWithin(week('2026-11-20')).length, 7)
  t.equal(daysWithin(periodNamed('month', '2026-11-20')).at(-1), '2026-11-30')
  t.equal(periodTitle(periodNamed('month', '2026-11-20')), 'November 2026')
})
