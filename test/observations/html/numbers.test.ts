/** Every number of a page is one that is counted from the rows in another way. */
import t from 'tap'
import { reportPage } from '../../../src/observations/html/page.js'
import { periodNamed } from '../../../src/observations/periods.js'
import { buildReport } from '../../../src/observations/report.js'
import { reportText } from '../../../src/observations/text.js'
import type { ScreenObservationInput } from '../../../src/observations/types.js'
import { input, said, seen } from '../../support/observations/inputs.js'

const days = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20']
const statuses = ['succeeded', 'succeeded', 'succeeded', 'pending', 'failed', 'blocked']
const activities = ['coding', 'reading', 'mail']
const projects = ['harbour', 'quay']

const iso = (day: string, minute: number): string =>
  new Date(Date.parse(`${day}T00:00:00.000Z`) + minute * 60_000).toISOString()

/** Whole minutes, so that sums by minutes are exact; each day has another number of rows. */
const rows: readonly ScreenObservationInput[] = days.flatMap((day, d) =>
  Array.from({ length: 30 + d * 7 }, (_, n) => {
    const minute = 480 + n * (3 + d) + (n % 3)
    const status = statuses[(n + d) % 6] ?? ''
    const like = n % 5 === 0 ? 2 : 0
    return seen({
      observationId: `obs_${d}_${n}`, filename: `${d}-${n}.png`, status,
      capturedAt: iso(day, minute),
      lastSeenAt: iso(day, minute + like), likeImages: like,
      likeTimes: like === 0 ? [] : [{ at: iso(day, minute + 1), images: like }],
      ...(status === 'succeeded' ? {
        analysed: true, summary: said(`Row ${d} ${n}.`), namedBy: 'gateway/acme/vision-2',
        named: {
          activity: activities[n % 3] ?? null, project: projects[n % 2] ?? null,
          applications: n % 2 === 0 ? ['Editor', 'Shell'] : ['Browser'],
        },
      } : {}),
    })
  }))

const week = periodNamed('week', '2026-11-20')

const told = input({
  calendar: week, since: '2026-11-16T00:00:00.000Z', until: '2026-11-23T00:00:00.000Z',
  madeAt: '2026-11-20T23:30:00.000Z', observations: rows,
  digests: [3, 4].map((d) => ({
    episodeId: `epi_${d}`, windowStart: iso(days[d] ?? '', 540), windowEnd: iso(days[d] ?? '', 570),
    sourceObservationIds: ['obs_1', 'obs_2', 'obs_3'], text: said(`Episode ${d}.`),
  })),
  spend: {
    since: '2026-11-19T23:30:00.000Z', budgetMicrousd: 500_000, spentMicrousd: 123_456,
    heldMicrousd: 7_000, budgetRequests: 90, requests: 31, disputedCharges: 0,
  },
  spendHours: [{ at: iso('2026-11-19', 600), spentMicrousd: 4_200, heldMicrousd: 0 }],
  excluded: { sourceMissing: 6, staleFolder: 0, archived: 4, digests: 0 },
  reasons: [{
    status: 'failed', reason: 'reply_not_json', count: rows.filter((one) =>
      one.status === 'failed').length, text: 'It was not JSON.', next: 'Run `sallyport x`.',
    needsPerson: true,
  }],
})

/** Minutes by what was seen last, of one day, not too long ago: minute by minute. */
const minutesOf = (
  those: readonly ScreenObservationInput[], is: (one: ScreenObservationInput) => boolean,
): number => days.reduce((sum, day) => {
  const ofDay = those.filter(({ capturedAt }) => capturedAt.startsWith(day))
  let minutes = 0
  for (let minute = 0; minute < 1_440; minute += 1) {
    const now = iso(day, minute)
    const last = ofDay.filter(({ capturedAt }) => capturedAt <= now).at(-1)
    const isFresh = last !== undefined
      && Date.parse(now) - Date.parse(last.lastSeenAt) < 300_000
    if (last !== undefined && isFresh && last.named !== undefined && is(last)) minutes += 1
  }
  return sum + minutes
}, 0)

const spanOf = (minutes: number): string => {
  const hours = Math.floor(minutes / 60)
  if (hours === 0) return `${minutes} min`
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

const imagesOf = (day: string): number => rows
  .filter(({ capturedAt }) => capturedAt.startsWith(day))
  .reduce((sum, { likeImages }) => sum + 1 + likeImages, 0)

const plainOf = (page: string): string =>
  page.slice(page.indexOf('<main>')).replace(/<(title|desc)[^>]*>[^<]*<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

/** A part of a page, its text alone. */
const sectionOf = (page: string, id: string): string => {
  const from = page.indexOf(`<section aria-labelledby="${id}"`)
  const next = page.indexOf('<section aria-labelledby="', from + 10)
  return plainOf(`<main>${page.slice(from, next < 0 ? undefined : next)}`)
}

const page = reportPage(buildReport(told))

t.test('S-026 time of a week by project, activity and application is that of its rows, minute by minute, and stands beside its label', async (t) => {
  const time = sectionOf(page, 'time')
  t.match(time, `${spanOf(minutesOf(rows, () => true))} on the screen`)
  for (const name of projects) {
    t.match(time, `${name} ${spanOf(minutesOf(rows, ({ named }) => named?.project === name))} `)
  }
  for (const name of activities) {
    t.match(time, `${name} ${spanOf(minutesOf(rows, ({ named }) => named?.activity === name))} `)
  }
  for (const name of ['Editor', 'Shell', 'Browser']) {
    t.match(time, `${name} ${spanOf(minutesOf(rows, ({ named }) =>
      named?.applications.includes(name) === true))} `)
  }
  const open = rows.filter(({ named }) => named === undefined).length
  t.match(time, `${open} of ${rows.length} observations are not described`)
  t.match(time, 'The names were written by the model gateway/acme/vision-2 ;')
  for (const kind of ['Project', 'Activity', 'Application']) {
    t.match(time, `${kind} written by the model`, 'each table has its label')
  }
})

t.test('days of a week stand beside each other on one scale, each as its own page says it, and lead to where they are told', async (t) => {
  const part = sectionOf(page, 'days')
  const minutes = days.map((day) =>
    minutesOf(rows.filter(({ capturedAt }) => capturedAt.startsWith(day)), () => true))
  t.match(part, `a whole bar is ${spanOf(Math.max(...minutes))}`)
  t.match(part, '2 days of it are still to come')
  const named = ['Mon 16 Nov', 'Tue 17 Nov', 'Wed 18 Nov', 'Thu 19 Nov', 'Fri 20 Nov']
  for (const [at, day] of days.entries()) {
    const said = at > 2 ? ' , 1 episode' : ''
    const sums = `${spanOf(minutes[at] ?? 0)} told, ${imagesOf(day)} images${said}`
    t.match(part, `${named[at]} ${sums}`)
    t.ok(page.includes(`<a href="#day-${day}"><b>`) && page.includes(`<h3 id="day-${day}">`))
    const alone = reportPage(buildReport({
      ...told, calendar: periodNamed('day', day), since: iso(day, 0), until: iso(day, 1_440),
      observations: rows.filter(({ capturedAt }) => capturedAt.startsWith(day)), digests: [],
    }))
    t.match(sectionOf(alone, 'time'), `${spanOf(minutes[at] ?? 0)} on the screen`)
    t.notMatch(alone, 'id="days"', 'a single day stands beside none')
  }
  t.ok(page.includes('<a href="#episodes-2026-11-20">')
    && page.includes('id="episodes-2026-11-20"'))
  const widths = [...page.slice(page.indexOf('class="days"'), page.indexOf('id="timeline"'))
    .split('<li>').slice(1).map((one) => [...one.matchAll(/class="p-\d"[^>]*width="([0-9.]+)"/g)]
      .reduce((sum, [, width]) => sum + Number(width), 0))]
  for (const [at, minute] of minutes.entries()) {
    const wide = (minute / Math.max(...minutes)) * 1_000
    t.ok(Math.abs((widths[at] ?? 0) - wide) < 1, `${days[at]}: ${widths[at]} of ${wide}`)
  }
})

t.test('episodes of one day among several stand below that day, where its row leads to', (t) => {
  const one = reportPage(buildReport({ ...told, digests: told.digests.slice(1) }))
  t.ok(one.includes('<a href="#episodes-2026-11-20">'))
  t.ok(one.includes('id="episodes-2026-11-20"'))
  const targets = [...one.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? '')
  t.strictSame(targets.filter((id) => !one.includes(`id="${id}"`)), [], 'no link leads nowhere')
  t.end()
})

t.test('what an older model wrote is counted as analysed, and repeats among what stands alone', (t) => {
  const older = rows.map((row) => (row.status !== 'succeeded' ? row
    : { ...row, status: 'needs_reanalysis', reused: true }))
  const report = buildReport({ ...told, observations: older })
  const analysed = rows.filter((row) => row.analysed === true).length
  t.ok(analysed > 50)
  t.match(plainOf(reportPage(report)), `${analysed} analysed`)
  t.equal(report.course.reused, 0, 'none of them is among those that are told as succeeded')
  t.end()
})

t.test('what is counted of the program is that of its rows: images, statuses, hours, money, what waits and what is left out', async (t) => {
  const images = days.reduce((sum, day) => sum + imagesOf(day), 0)
  const count = (status: string): number => rows.filter((one) => one.status === status).length
  const program = plainOf(`<main>${page.slice(page.indexOf('<details class="program"'))}`)
  t.match(program, `spent ${images} images , ${rows.length} observations , $0.123456 spent in 24`)
  t.match(program, `${images} images ${rows.length} observations ${
    rows.filter(({ likeImages }) => likeImages > 0).length} runs of like images ${
    count('succeeded')} analysed ${count('failed')} failed ${count('blocked')} blocked 2 digests`)
  for (const status of ['succeeded', 'pending', 'failed', 'blocked']) {
    t.match(sectionOf(page, 'mix'), `${status} ${count(status)} `)
  }
  for (let hour = 0; hour < 24; hour += 1) {
    const inHour = rows.reduce((sum, { capturedAt, likeTimes = [] }) =>
      sum + [{ at: capturedAt, images: 1 }, ...likeTimes]
        .filter(({ at }) => Number(at.slice(11, 13)) === hour)
        .reduce((some, one) => some + one.images, 0), 0)
    const clock = `${String(hour).padStart(2, '0')}:00`
    const table = sectionOf(page, 'hours').split('The hours as a table')[1] ?? ''
    if (inHour > 0) t.match(table, ` ${clock} ${inHour} `)
    else t.notMatch(table, ` ${clock} `)
  }
  t.match(sectionOf(page, 'spend'), 'money $0.123456 of $0.50 held, under way or of unknown '
    + 'charge $0.007 requests 31 of 90')
  t.match(sectionOf(page, 'spent'), 'spend up to $0.0042 an hour')
  t.match(sectionOf(page, 'waits'), `Waits for a person 1 ! ${count('failed')} failed: It was not`)
  t.match(sectionOf(page, 'screens'), `Table of ${rows.length} screenshots`)
  t.match(sectionOf(page, 'provenance'), `${rows.length} source observations (screenshot_folder), `
    + '2 digests. Left out: 6 whose file is missing, 4 archived.')
  t.match(sectionOf(page, 'summaries'), `${count('succeeded')} summaries`)
  t.match(plainOf(page), `${rows.length} observations were counted.`)
})

t.test('the text of a report has at most 60 lines, in the order of the page, and says how much has no room', async (t) => {
  const plain = { foreign: (text: string) => text, strong: (text: string) => text }
  const text = reportText(buildReport(told), plain)
  t.ok(text.trimEnd().split('\n').length <= 60, text)
  const order = ['What was done', 'Time by project, written by the model', 'Days, on one scale',
    'Episodes', 'Waits for a person', 'Status', 'Spend of the last', 'Where it comes from']
  const places = order.map((head) => text.indexOf(`\n${head}`))
  t.notOk(places.includes(-1), String(places))
  t.strictSame([...places].sort((a, b) => a - b), places)
  t.match(text, /Summaries, the newest \d+ of \d+\n {2}\d+ earlier summaries: --html, --json\n/)
  t.match(text, `harbour${' '.repeat(33)} ${spanOf(minutesOf(rows, ({ named }) =>
    named?.project === 'harbour'))}\n`)
  t.match(text, `Fri 20 Nov  ${spanOf(minutesOf(rows.filter(({ capturedAt }) =>
    capturedAt.startsWith('2026-11-20')), () => true)).padStart(11)}`)
})
