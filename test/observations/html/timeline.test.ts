/** The timeline: first on the page, its bars as long as what they stand for. */
import t from 'tap'
import { axisLabels } from '../../../src/observations/html/axis.js'
import { lanesOf, spendMostOf, withoutPiles } from '../../../src/observations/html/lanes.js'
import { reportPage } from '../../../src/observations/html/page.js'
import { buildReport, reportLimits } from '../../../src/observations/report.js'
import type { ScreenReportInput } from '../../../src/observations/types.js'
import { zoneOf } from '../../../src/observations/zone.js'
import { busyDay } from '../../support/observations/days.js'
import { at, input, said, seen } from '../../support/observations/inputs.js'

const lanes = (changes: Partial<ScreenReportInput>, day = '2026-11-20') => {
  const report = buildReport(input(changes))
  const zone = zoneOf(report.period.time_zone)
  return lanesOf(report, zone, day, spendMostOf(report, zone, new Set([day])))
}

const spans = (bars: readonly { from: number; to: number }[]) =>
  bars.map(({ from, to }) => [from, to])

t.test('what the person did comes first on the page, then what waits, then, folded, what the program did and spent', async (t) => {
  const page = reportPage(buildReport(busyDay()))
  const headings = [...page.matchAll(/<h2 id="([a-z]+)"/g)].map(([, id]) => id)
  t.strictSame(headings, [
    'time', 'conclusion', 'episodes', 'summaries', 'timeline', 'longest', 'waits',
    'program', 'mix', 'hours', 'spend', 'spent', 'screens', 'provenance',
  ])
  const folded = page.slice(page.indexOf('<details class="program"><summary>'))
  for (const id of ['mix', 'spent', 'screens', 'provenance']) t.match(folded, `id="${id}"`)
  t.notMatch(folded, 'id="waits"')
  t.match(folded.replace(/<[^>]*>/g, '').replace(/\s+/g, ' '),
    /^What the program did and spent 750 images, 40 observations, \$0\.51782 spent in 24 hours/)
  const first = page.slice(page.indexOf('<figure class="day">'), page.indexOf('</figure>'))
  const names = [...first.matchAll(/<div class="name" aria-hidden="true">([A-Za-z ]+)/g)]
    .map(([, name]) => name?.trim())
  t.strictSame(names, ['Episodes', 'Analysed', 'Unfinished'])
  t.equal([...first.matchAll(/class="axis"/g)].length, 1)
  t.match(first, '<title>07:15 to 07:22, 7 min, succeeded, Screenshot 2026-11-20')
  const longest = page.slice(page.indexOf('class="longest"')).replace(/<[^>]*>/g, ' ')
  t.match(longest.replace(/\s+/g, ' ').slice(0, 200),
    /37 min Screenshot .* 2026-11-20 17:29 to 18:06 , succeeded/)
  for (const one of ['Unfinished', 'Spend']) {
    t.notMatch(reportPage(buildReport(input())), `aria-hidden="true">${one}`, `no empty ${one}`)
  }
})

t.test('a run is as long as it stood, screens whose analysis is not finished have their own lane, and what crosses midnight is on both days', async (t) => {
  const observations = [
    seen({ lastSeenAt: at(10, 30), likeImages: 3 }),
    seen({ status: 'failed', capturedAt: at(11), lastSeenAt: at(11) }),
    seen({ status: 'needs_reanalysis', capturedAt: at(23, 50), lastSeenAt: at(24, 20) }),
  ]
  const first = lanes({ observations, until: at(48) })
  t.strictSame(spans(first.analysed), [[540, 630], [1430, 1440]])
  t.strictSame(spans(first.open), [[660, 660]])
  t.strictSame(spans(lanes({ observations, until: at(48) }, '2026-11-21').analysed), [[0, 20]])
  const digests = [{
    episodeId: 'epi_1', windowStart: at(23, 30), windowEnd: at(24), sourceObservationIds: ['obs_1'],
    text: said('x'),
  }]
  t.strictSame(spans(lanes({ digests }).episodes), [[1410, 1440]])
  t.strictSame(lanes({ digests }, '2026-11-21').episodes, [])
})

t.test('across the hour that comes twice a bar is as long as the time that passed', (t) => {
  const on = (hour: number, minute = 0): string =>
    new Date(Date.UTC(2026, 9, 25, hour, minute)).toISOString()
  const berlin = { since: on(0), until: on(24), timeZone: 'Europe/Berlin' }
  const ofDay = (changes: Partial<ScreenReportInput>) =>
    lanes({ ...berlin, ...changes }, '2026-10-25')
  // 02:50 in summer to 02:20 in winter, and one that was seen once.
  const observations = [
    seen({ capturedAt: on(0, 50), lastSeenAt: on(1, 20) }),
    seen({ capturedAt: on(9), lastSeenAt: on(9) }),
  ]
  t.strictSame(spans(ofDay({ observations }).analysed), [[170, 200], [600, 600]])
  const digests = [{
    episodeId: 'epi_1', windowStart: on(0, 30), windowEnd: on(1, 30),
    sourceObservationIds: ['obs_1'], text: said('x'),
  }]
  t.strictSame(spans(ofDay({ digests }).episodes), [[150, 210]])
  t.end()
})

t.test('spend lies on its hour in the zone, as high as its share of the dearest hour', async (t) => {
  const spendHours = [
    { at: at(9), spentMicrousd: 50, heldMicrousd: 50 },
    { at: at(10), spentMicrousd: 50, heldMicrousd: 0 },
  ]
  const { spend } = lanes({ spendHours, timeZone: 'Asia/Kolkata' })
  t.strictSame(spans(spend), [[870, 930], [930, 990]])
  t.strictSame(spend.map(({ height }) => height), [1, 0.5])
  t.equal(spend[0]?.title, '14:30 to 15:30, $0.00005 spent, $0.00005 held')
})

t.test('an axis of any number of hours has its labels: both ends and whole steps between them', (t) => {
  for (let span = 1; span <= 24; span += 1) {
    const labels = [...axisLabels({ from: 0, to: span }).text
      .matchAll(/class="hour([^"]*)" style="left:([0-9.]+)%"\s*>([0-9]+):00</g)]
    const hours = labels.map(([, , , hour]) => Number(hour))
    t.strictSame([hours[0], hours.at(-1)], [0, span], `${span} hours: both ends`)
    t.ok(hours.length >= Math.min(4, span) && hours.length <= 9, `${span}: ${hours.join()}`)
    const step = hours[1] ?? span
    for (const [at, hour] of hours.slice(1).entries()) {
      const gap = hour - (hours[at] ?? 0)
      t.ok(gap === step || (hour === span && gap > step && gap < 2 * step), `${span}: ${gap}`)
    }
    for (const [, , left, hour] of labels) {
      t.equal(left, ((Number(hour) / span) * 100).toFixed(2), `${span}: where the hour is`)
    }
    t.notMatch(labels.at(-1)?.[1], 'minor', 'a phone shows the end')
  }
  t.end()
})

t.test('the days of a report share one axis and one scale of money', (t) => {
  const page = reportPage(buildReport(input({
    until: at(48), observations: [seen({ lastSeenAt: at(10) }), seen({
      capturedAt: at(24 + 15), lastSeenAt: at(24 + 19, 30),
    })],
    spendHours: [
      { at: at(9), spentMicrousd: 50_000, heldMicrousd: 0 },
      { at: at(24 + 16), spentMicrousd: 5_000, heldMicrousd: 0 },
    ],
  })))
  const days = page.split('<figure class="day">').slice(1)
    .map((day) => day.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '))
  t.equal(days.length, 4, 'two of screens, two of money')
  for (const day of days) t.match(day, '09:00 to 20:00')
  for (const day of days.slice(2)) t.match(day, '09:00 to 20:00 , spend up to $0.05 an hour')
  const spent = [...page.matchAll(/class="spent"[^>]*height="([0-9.]+)"/g)].map(([, one]) => one)
  t.strictSame(spent, ['24', '2.4'])
  t.end()
})

t.test('what stood for less than a minute is not told among the longest', (t) => {
  const longest = (seconds: readonly number[]): string => {
    const page = reportPage(buildReport(input({
      observations: seconds.map((s) => seen({
        lastSeenAt: new Date(Date.parse(at(9)) + s * 1_000).toISOString(), likeImages: 1,
      })),
    })))
    return page.slice(page.indexOf('</nav>'))
  }
  t.notMatch(longest([5, 6, 7, 8, 9, 29]), 'Longest on the screen')
  const some = longest([29, 30, 120])
  t.match(some, 'Longest on the screen')
  t.equal([...some.matchAll(/<li><b class="num">/g)].length, 2)
  t.notMatch(some.slice(some.indexOf('class="longest"'), some.indexOf('</ol>')), '&lt; 1 min')
  t.end()
})

t.test('the screens that stood longest are told however many newer ones are listed', (t) => {
  const old = [90, 120].map((minutes) => seen({
    filename: `stood-${minutes}.png`, lastSeenAt: at(9, minutes), likeImages: 1,
  }))
  const newer = Array.from({ length: reportLimits.listedMax }, (_, n) => seen({
    filename: `${n}.png`, capturedAt: at(12, n / 60), lastSeenAt: at(12, n / 60),
  }))
  const report = buildReport(input({ observations: [...old, ...newer] }))
  t.equal(report.facts.listed, reportLimits.listedMax)
  const page = reportPage(report)
  const told = page.slice(page.indexOf('class="longest"')).replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
  t.match(told, /^class="longest"> 2 h stood-120\.png .* 1 h 30 min stood-90\.png /)
  t.match(page.replace(/\s+/g, ' '),
    'the newest, and those whose summary is told or that stood longest')
  t.end()
})

t.test('a day on which money was spent is drawn although no screen is of it', (t) => {
  const page = reportPage(buildReport(input({
    until: at(48), spendHours: [{ at: at(30), spentMicrousd: 1_500, heldMicrousd: 0 }],
  })))
  t.equal([...page.matchAll(/<figure class="day">/g)].length, 2)
  t.ok(page.includes('Spend by the hour on Saturday, 21 November 2026'))
  t.ok(page.includes('06:00 to 07:00, $0.0015 spent'))
  t.end()
})

t.test('a page whose sums by the hour are not kept any more says from when on they are', (t) => {
  const page = (spendKnownSince: string | null): string =>
    reportPage(buildReport(input({ spendKnownSince })))
  t.match(page(at(20)).replace(/\s+/g, ' '),
    /Spend by the hour<\/h2> <p class="note">What was claimed before .*20:00.* is not counted/)
  t.notMatch(page(null), 'Spend by the hour')
  t.end()
})

t.test('bars too narrow to be told apart become one with a count; long ones, other colours and gaps stay', (t) => {
  const bar = (from: number, to: number, className = 's-succeeded') =>
    ({ from, to, className, title: `${from}`, height: 1 })
  const piled = withoutPiles([
    bar(0, 0), bar(1, 1), bar(2, 3), bar(2, 2, 's-failed'), bar(60, 90), bar(90, 90), bar(200, 200),
  ], 5)
  t.strictSame(piled.map(({ from, to, title }) => [from, to, title]), [
    [0, 5, '0, and 2 more up to 00:05'], [2, 2, '2'], [60, 90, '60'], [90, 90, '90'],
    [200, 200, '200'],
  ])
  t.end()
})

t.test('rarer bars of a day are drawn last', (t) => {
  const observations = [
    seen({ status: 'failed' }),
    ...[30, 40, 50].map((minute) =>
      seen({ capturedAt: at(9, minute), lastSeenAt: at(9, minute), status: 'pending' })),
  ]
  const page = reportPage(buildReport(input({ observations }))).split('</figure>')[0] ?? ''
  const bars = [...page.matchAll(/<rect class="(s-[a-z]+)"\s+x="[0-9.]+"\s+y="0"/g)]
    .map(([, name]) => name)
  t.strictSame(bars, ['s-pending', 's-pending', 's-pending', 's-failed'])
  t.end()
})
