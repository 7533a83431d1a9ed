/** What the page makes of a told day: which hours of it an episode reaches into. */
import { dayOf } from '../../../src/service/page/day-shown.js'
import type { DayEpisode, ToldDay } from '../../../src/shots/told-day/told-day-contract.js'
import { t } from '../../support/tests-in-slices.js'

const episode = (start: string, end: string): DayEpisode => ({
  episode_id: null, start, end, text: null, model: null, written_at: null, pictures: [],
  seconds: 0, activity: null, application: null, project: null,
})

const toldOf = (zone: string, day: string): ToldDay => ({
  day, today: day, time_zone: zone, pictures: 1, analysed: 0, seconds: 0, hours: [],
  time: { activity: [], application: [], project: [] }, models: [], devices: [],
  episodes: [], spent_microusd: 0, held_microusd: 0, spend_known_since: null,
})

const hoursOf = (zone: string, day: string, start: string, end: string): readonly number[] =>
  dayOf({ ...toldOf(zone, day), episodes: [episode(start, end)] })
    .episodes.flatMap(({ firstHour, lastHour }) => [firstHour, lastHour])

t.test('an episode over a midnight of the zone reaches into the hours of the shown day alone', (t) => {
  const kept = [
    // A window of a day is one of UTC: 01:00 to 01:00 in Berlin.
    ['Europe/Berlin', '2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 1, 23],
    ['Europe/Berlin', '2026-11-21', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 0, 0],
    // 23:45 to 00:15.
    ['Asia/Kathmandu', '2026-11-20', '2026-11-20T18:00:00.000Z', '2026-11-20T18:30:00.000Z',
      23, 23],
    ['Asia/Kathmandu', '2026-11-21', '2026-11-20T18:00:00.000Z', '2026-11-20T18:30:00.000Z', 0, 0],
    // 23:00 to 03:00.
    ['America/New_York', '2026-11-20', '2026-11-21T04:00:00.000Z', '2026-11-21T08:00:00.000Z',
      23, 23],
    ['America/New_York', '2026-11-21', '2026-11-21T04:00:00.000Z', '2026-11-21T08:00:00.000Z',
      0, 2],
    ['UTC', '2026-11-20', '2026-11-20T14:00:00.000Z', '2026-11-20T15:00:00.000Z', 14, 14],
  ] as const
  for (const [zone, day, start, end, first, last] of kept) {
    t.strictSame(hoursOf(zone, day, start, end), [first, last], `${zone} on ${day}`)
  }
  t.end()
})

t.test('what a day cost is told to the last micro-dollar, and with cents at least', (t) => {
  const told = toldOf('UTC', '2026-11-20')
  const spent = (microusd: number) => dayOf({ ...told, spent_microusd: microusd }).spent
  t.strictSame([0, 1, 250_000, 1_234_567, 12_000_010, 123_456_700].map(spent), [
    '$0.00', '$0.000001', '$0.25', '$1.234567', '$12.00001', '$123.4567',
  ])
  t.equal(dayOf({ ...told, spent_microusd: 1_500, held_microusd: 100_001 }).spent,
    '$0.0015, and $0.100001 held')
  t.end()
})
