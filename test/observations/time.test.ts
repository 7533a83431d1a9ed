/** Time by what a model named, as a report tells it. */
import t from 'tap'
import { daysMax } from '../../src/observations/by-day.js'
import { buildReport } from '../../src/observations/report.js'
import { reportPage } from '../../src/observations/html/page.js'
import { namedIn, secondsByPlace, secondsOf } from '../../src/observations/sums.js'
import type { ScreenObservationInput } from '../../src/observations/types.js'
import { input } from '../support/observations/inputs.js'

const inputOf = (observations: readonly ScreenObservationInput[]) => input({
  since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z',
  madeAt: '2026-11-21T00:00:00.000Z', observations,
})

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString()

const seen = (
  minute: number, says?: Readonly<Record<string, unknown>>,
): ScreenObservationInput => ({
  observationId: `obs_${minute}`, source: 'screenshot_folder', filename: `${minute}.png`,
  format: 'png', width: 10, height: 10, bytes: 10, capturedAt: at(minute), lastSeenAt: at(minute),
  likeImages: 0, status: says === undefined ? 'pending' : 'succeeded', summary: null,
  analysed: says !== undefined, ...(says === undefined ? {} : { named: namedIn(says) }),
})

/** Sums made by another way: minute by minute, of what was seen last and not too long ago. */
const byMinutes = (
  observations: readonly ScreenObservationInput[],
  nameOf: (one: ScreenObservationInput) => string[],
): Record<string, number> => {
  const sums: Record<string, number> = {}
  for (let minute = 0; minute < 60; minute += 1) {
    const last = observations.filter(({ capturedAt }) => capturedAt <= at(minute)).at(-1)
    const ageMs = last === undefined ? Infinity
      : Date.parse(at(minute)) - Date.parse(last.capturedAt)
    if (last === undefined || ageMs >= 300_000) continue
    for (const name of nameOf(last)) sums[name] = (sums[name] ?? 0) + 60
  }
  return sums
}

const day = [
  seen(0, { activity: 'coding', applications: ['Editor', 'Shell'], project: 'harbour' }),
  seen(3, { activity: 'reading', applications: ['Browser'], project: null }),
  seen(4),
  seen(6, { activity: 'coding', applications: ['Editor'], project: 'harbour' }),
  seen(40, { activity: '<b>meeting</b>', applications: [], project: 'quay' }),
]

t.test('no picture counts beyond the end, also where another one is dated behind it', (t) => {
  const one = (atMs: number) => ({ atMs, seenMs: atMs })
  t.strictSame(secondsOf([one(0), one(100_000), one(900_000)], 160_000), [100, 60, 0])
  t.end()
})

t.test('S-026 time is counted by what the model named, and told first', async (t) => {
  const report = buildReport(inputOf(day))
  const { time } = report.model_text
  const pairs = (sums: readonly { name: string; seconds: number }[]): Record<string, number> =>
    Object.fromEntries(sums.map(({ name, seconds }) => [name, seconds]))
  const list = (name: string | null | undefined): string[] =>
    (typeof name === 'string' ? [name] : [])
  t.strictSame(pairs(time.activity), byMinutes(day, ({ named }) => list(named?.activity)))
  t.strictSame(pairs(time.project), byMinutes(day, ({ named }) => list(named?.project)))
  t.strictSame(pairs(time.application),
    byMinutes(day, ({ named }) => [...named?.applications ?? []]))
  t.hasStrict(time, { observation_count: 4, seconds: 4 * 60 + 600 })
  const page = reportPage(report)
  t.ok(page.indexOf('id="time"') < page.indexOf('id="timeline"'), 'before what the program did')
  const plain = page.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  t.match(plain, '1 of 5 observations are not described, and no time is told of them.')
  t.match(page, '&lt;b&gt;meeting&lt;/b&gt;')
  t.notMatch(page, '<b>meeting')
})

t.test('a period of which nothing is described says so in a sentence and sends on to what waits', async (t) => {
  const page = reportPage(buildReport(inputOf([seen(1), seen(2)])))
  const plain = page.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  t.match(plain, 'Nothing of this period is described, so no time is told of it. Of 2 '
    + 'observations: 2 pending. What waits says what it needs.')
  t.notMatch(plain, 'written by the model')
})

t.test('a picture counts in the period in which it was captured, on its day, and never past midnight', async (t) => {
  const before = { ...seen(0, { activity: 'early', applications: [], project: null }),
    capturedAt: '2026-11-19T23:50:00.000Z', lastSeenAt: at(1), likeImages: 1,
    likeTimes: [{ at: at(1), images: 1 }] }
  const last = { ...seen(0, { activity: 'late', applications: [], project: null }),
    capturedAt: '2026-11-20T23:58:00.000Z', lastSeenAt: '2026-11-20T23:58:00.000Z' }
  const { facts, model_text: { time, summary_count: all } } =
    buildReport({ ...inputOf([before, last]), madeAt: '2026-11-22T00:00:00.000Z' })
  t.strictSame(time.activity, [{ name: 'late', seconds: 120 }])
  t.strictSame([facts.count, all, time.observation_count], [2, 2, 1])
  const both = buildReport({ ...inputOf([before, last]), since: '2026-11-19T00:00:00.000Z',
    until: '2026-11-22T00:00:00.000Z', madeAt: '2026-11-22T00:00:00.000Z' })
  t.strictSame(both.model_text.time.days.map(({ day, seconds }) => [day, seconds]),
    [['2026-11-19', 600], ['2026-11-20', 120]])
})

t.test('a period of more days than are told one by one tells its newest, and counts time of all', async (t) => {
  const since = Date.UTC(2025, 0)
  const isoOf = (day: number) => new Date(since + day * 86_400_000).toISOString()
  const days = Array.from({ length: daysMax + 2 }, (_, day) => ({
    ...seen(0, { activity: 'coding', applications: [], project: null }),
    capturedAt: isoOf(day), lastSeenAt: isoOf(day),
  }))
  const until = isoOf(days.length)
  const { model_text: { time } } =
    buildReport({ ...inputOf(days), since: isoOf(0), until, madeAt: until })
  t.equal(time.days.length, daysMax)
  t.strictSame([time.days.at(0)?.day, time.days.at(-1)?.day],
    [isoOf(2).slice(0, 10), isoOf(days.length - 1).slice(0, 10)])
  t.equal(time.observation_count, days.length)
})

t.test('a picture is ended by the next one of its own place, and by no other', (t) => {
  const one = (place: string, atMs: number) => ({ place, atMs, seenMs: atMs })
  t.strictSame(secondsByPlace([
    one('', 0), one('camera', 10_000), one('', 100_000), one('camera', 70_000),
  ], 160_000), [100, 60, 60, 90])
  t.strictSame(secondsByPlace([], 1), [])
  const folder = [seen(0, { activity: 'coding' }), seen(2, { activity: 'reading' })]
  const device = { ...seen(1), observationId: 'obs_d', source: 'edge', place: 'edge_dev_1' }
  const [first, second] = folder
  const time = (observations: readonly ScreenObservationInput[]) =>
    buildReport(inputOf(observations)).model_text.time
  t.strictSame(
    time([first, device, second].filter((one) => one !== undefined)), time(folder),
    'nor has what was described less time for what stands beside it')
  t.end()
})
