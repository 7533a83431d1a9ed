import { parse } from 'valibot'
import { reportPage } from '../../src/observations/html/page.js'
import { buildReport, reportLimits, reportShape } from '../../src/observations/report.js'
import { reportText } from '../../src/observations/text.js'
import { daysOf, startOfDay, zoneOf } from '../../src/observations/zone.js'
import type { ScreenObservationInput } from '../../src/observations/types.js'
import { at, input, said, seen } from '../support/observations/inputs.js'
import { t } from '../support/tests-in-slices.js'

const plain = { foreign: (text: string) => text, strong: (text: string) => text }

t.test('S-024 one builder makes one report of observations of the folder and of another source', async (t) => {
  const report = buildReport(input({
    observations: [
      seen({ observationId: 'obs_1', filename: 'folder.png' }),
      seen({
        observationId: 'edge_art_2', source: 'paired_edge', filename: 'edge.jpg', format: 'jpeg',
        capturedAt: at(10), lastSeenAt: at(10), status: 'pending',
      }),
    ],
  }))
  t.strictSame(parse(reportShape, report), report)
  t.strictSame(report.provenance.sources, ['paired_edge', 'screenshot_folder'])
  t.strictSame(report.provenance.source_observation_ids, ['obs_1', 'edge_art_2'])
  t.strictSame(
    Object.keys(report.facts.observations[0] ?? {}), Object.keys(report.facts.observations[1] ?? {})
  )
  t.strictSame(report.course.statuses, { succeeded: 1, pending: 1 })
})

t.test('S-025 the facts of a file are name, format, dimensions and size and nothing else', async (t) => {
  const report = buildReport(input({
    observations: [seen({ summary: said('A summary.') }), seen({ width: null, height: null })],
  }))
  t.strictSame(report.facts.observations, [
    { filename: 'a.png', format: 'png', width: 1920, height: 1080, bytes: 2048 },
    { filename: 'a.png', format: 'png', width: null, height: null, bytes: 2048 },
  ])
})

t.test('S-026 text of a model stands apart with its model and time, and without a model there is none', async (t) => {
  const without = buildReport(input())
  t.strictSame(without.model_text, {
    conclusion: null, digests: [], summary_count: 0, summaries: [],
    time: {
      observation_count: 0, seconds: 0, activity: [], application: [], project: [], models: [],
      days: [],
    },
  })
  const text = reportText(without, plain)
  t.notMatch(text, /written by|Conclusion|Episodes|Summaries/)
  const report = buildReport(input({
    observations: [seen({ summary: said('What is seen.', { outdated: true }) })],
    digests: [{
      episodeId: 'epi_1', windowStart: at(9), windowEnd: at(9, 30), sourceObservationIds: ['obs_1'],
      text: said('What was done.'),
    }],
    conclusion: {
      conclusionId: 'ccl_1', digestIds: ['epi_1'], sourceObservationIds: ['obs_1'], current: true,
      text: said('What it came to.'),
    },
  }))
  const { conclusion, digests, summaries } = report.model_text
  for (const one of [conclusion, ...digests, ...summaries]) {
    t.hasStrict(one, {
      model: 'gateway/acme/report-1', reply_model: 'acme/report-1-2026', written_at: at(17),
    })
  }
  t.strictSame([conclusion?.text, digests[0]?.text, summaries[0]?.text], [
    'What it came to.', 'What was done.', 'What is seen.',
  ])
  t.match(reportText(report, plain), /written by gateway\/acme\/report-1 .* from before a change/)
})

t.test('S-107 provenance names the digest count, the digests and every source observation', async (t) => {
  const report = buildReport(input({
    digests: [{
      episodeId: 'epi_1', windowStart: at(9), windowEnd: at(9, 30),
      sourceObservationIds: ['obs_1', 'obs_7'], text: said('x'),
    }],
  }))
  t.equal(report.provenance.digest_count, 1)
  t.strictSame(report.provenance.digests, [
    { episode_id: 'epi_1', source_observation_ids: ['obs_1', 'obs_7'] },
  ])
  t.strictSame(report.provenance.source_observation_ids, ['obs_1'])
})

t.test('S-166 what is left out is counted by its reason', async (t) => {
  const report = buildReport(input({
    observations: [], excluded: { sourceMissing: 2, staleFolder: 3, archived: 1, digests: 1 },
  }))
  t.strictSame(
    report.provenance.excluded, { source_missing: 2, stale_root: 3, archived: 1, digests: 1 }
  )
  t.match(reportText(report, plain),
    '2 source missing, 3 of an older folder, 1 archived, 1 digests that')
})

t.test('areas that do not count are told, with how many observations stand for images that differ there', async (t) => {
  const told = (areas: readonly string[], ...ignoredImages: readonly number[]) => {
    const report = buildReport(input({
      observations: ignoredImages.map((images) => seen({ ignoredImages: images })),
      ignoring: { areas },
    }))
    return [report.provenance.ignored, reportText(report, plain), reportPage(report)] as const
  }
  const area = '1920x1080:1800,0,120,40'
  const [ignored, text, page] = told([area], 3, 0, 1)
  t.strictSame(ignored, { areas: [area], observations: 2 })
  t.match(text, `ignored areas: ${area}\n  2 observations standing for images that differ there`)
  t.match(page.replace(/\s+/g, ' '), `compared: ${area}. 2 observations standing for images`)
  const [none, plainText, plainPage] = told([], 0)
  t.strictSame(none, { areas: [], observations: 0 })
  t.notMatch(plainText + plainPage, /ignored|Areas that/)
  t.match(told([], 1)[2].replace(/\s+/g, ' '), 'compared: none any more. 1 observation standing')
})

t.test('all are counted, the newest are listed; images by hour count the like ones, in the time zone', async (t) => {
  const many = Array.from({ length: reportLimits.listedMax + 5 }, (_, n) =>
    seen({ observationId: `obs_${n}`, filename: `${n}.png`, likeImages: n === 0 ? 4 : 0 }))
  const report = buildReport(input({ observations: many, timeZone: 'Asia/Tokyo' }))
  t.equal(report.facts.count, many.length)
  t.equal(report.facts.listed, reportLimits.listedMax)
  t.equal(report.facts.observations[0]?.filename, '5.png')
  t.equal(report.course.hours[18], many.length + 4, '9:00 UTC is 18:00 in Tokyo')
  t.equal(report.course.image_count, many.length + 4)
  t.equal(buildReport(input({ timeZone: 'No/Where' })).period.time_zone, 'UTC')
})

t.test('what is told of a few is chosen before the list is cut: summaries are of the newest screens that have one, runs are counted over all', async (t) => {
  const { listedMax, summariesMax } = reportLimits
  const row = (n: number, changes: Partial<ScreenObservationInput> = {}) => seen({
    observationId: `obs_${n}`, filename: `${n}.png`, capturedAt: at(9, n / 200), ...changes,
  })
  const text = (n: number) => row(n, { summary: said(`Text ${n}.`), likeImages: 1 })
  const old = Array.from({ length: summariesMax + 3 }, (_, n) => text(n))
  const waits = Array.from({ length: listedMax + 1 }, (_, n) =>
    row(old.length + n, { status: 'pending' }))
  const report = buildReport(input({ observations: [...old, ...waits] }))
  const { summaries, summary_count: all } = report.model_text
  t.equal(summaries.length, summariesMax)
  t.equal(all, summariesMax + 3)
  t.strictSame([summaries[0]?.text, summaries.at(-1)?.text],
    ['Text 3.', `Text ${summariesMax + 2}.`])
  for (const { number, text: its } of summaries) {
    t.equal(report.facts.observations[number - 1]?.filename, `${its.slice(5, -1)}.png`)
  }
  t.equal(report.facts.listed, listedMax)
  t.equal(report.facts.observations.at(-1)?.filename, `${old.length + listedMax}.png`)
  t.equal(report.course.like_runs, summariesMax + 3)
  const page = reportPage(report).replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  t.match(page, `${all} runs of like images`)
  t.match(page, `The newest ${summariesMax} of ${all} screenshots with an analysis have their`)
  t.match(page, `Listed are ${listedMax} of ${report.facts.count} screens: the newest, and`)
  t.match(reportText(report, plain), /Summaries, the newest [0-9]+ of 500\n/)
  t.match(reportText(buildReport(input({ observations: [text(1)] })), plain), /Summaries\n/)
})

t.test('a day of a zone is that of its wall clock, over its changes', async (t) => {
  const berlin = zoneOf('Europe/Berlin')
  t.strictSame(
    berlin.at('2026-03-29T00:59:00.000Z'), { day: '2026-03-29', minute: 119, time: '01:59' }
  )
  t.strictSame(
    berlin.at('2026-03-29T01:00:00.000Z'), { day: '2026-03-29', minute: 180, time: '03:00' }
  )
  t.strictSame(daysOf(berlin, '2026-10-24T21:00:00.000Z', '2026-10-26T00:00:00.000Z'), [
    '2026-10-24', '2026-10-25', '2026-10-26',
  ])
  t.equal(daysOf(berlin, '1990-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z').length, 366)
})

t.test('text for people: files by day with how long a screen stood, spend against the budget', async (t) => {
  const report = buildReport(input({
    observations: [seen({ lastSeenAt: at(10, 30), likeImages: 9, filename: 'x\ny.png' })],
    spend: {
      since: at(0), budgetMicrousd: 500_000, spentMicrousd: 1_234, heldMicrousd: 50_000,
      budgetRequests: null, requests: 3, disputedCharges: 0,
    },
  }))
  const text = reportText(report, plain)
  t.match(text, '2026-11-20 09:00  x\\ny.png, png, 1920 × 1080, 2.0 KiB, succeeded, stood 1 h 30 min')
  t.match(text, '$0.001234 of $0.50')
  t.match(text, 'held      $0.05')
  t.match(text, '3, no budget is set')
})

t.test('S-024 an image counts in its own hour, not in that of the run it belongs to', (t) => {
  const likeTimes = [{ at: at(9, 45), images: 2 }, { at: at(10, 15), images: 3 }]
  const one = seen({ capturedAt: at(9, 40), lastSeenAt: at(10, 20), likeImages: 6, likeTimes })
  const { course } = buildReport(input({ observations: [one] }))
  t.equal(course.image_count, 7)
  t.strictSame(
    [course.hours[9], course.hours[10]], [4, 3], 'one without a known time is at the first'
  )
  t.end()
})

t.test('S-024 periods that meet count every image of a run once, each in its own hour, in every form of a report', async (t) => {
  const likeTimes = [
    { at: at(7, 50), images: 1 }, { at: at(8), images: 1 }, { at: at(8, 15), images: 2 },
  ]
  const one = seen({ capturedAt: at(7, 50), lastSeenAt: at(8, 20), likeImages: 4, likeTimes })
  const told = (from: number, to: number) => {
    const report = buildReport(input({ since: at(from), until: at(to), observations: [one] }))
    return {
      images: report.course.image_count, like: report.course.runs[0]?.like_images,
      hours: report.course.hours.slice(6, 10), text: reportText(report, plain),
      page: reportPage(report), report,
    }
  }
  const [first, second, both] = [told(7, 8), told(8, 9), told(7, 9)]
  t.hasStrict(first, { images: 2, like: 1, hours: [0, 2, 0, 0] })
  t.hasStrict(second, { images: 3, like: 3, hours: [0, 0, 3, 0] })
  t.hasStrict(both, { images: 5, like: 4, hours: [0, 2, 3, 0] })
  t.match(second.text, '1 observation of 3 images')
  t.match(second.text, /08:00 +3 /)
  t.notMatch(second.text, /07:00/)
  t.match(second.page, '<b class="num">3</b>\n<span>images</span>')
  t.match(second.page, '08:00, 3 images')
  for (const { report } of [told(6, 7), told(9, 10)]) {
    t.equal(report.facts.count, 0, 'a run without an image in the period is not in it')
    t.strictSame(report.provenance.source_observation_ids, [])
  }
})

t.test('a day begins at midnight of its zone, or where clocks leap over that, and only days of the calendar begin', async (t) => {
  const start = (zone: string, day: string): string | null => {
    const ms = startOfDay(zoneOf(zone), day)
    return ms === null ? null : new Date(ms).toISOString()
  }
  const cases: [string, string, string][] = [
    ['UTC', '2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-20', '2026-11-19T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-20', '2026-11-19T10:00:00.000Z'],
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
    ['Asia/Tokyo', '0000-01-01', '0000-01-01T00:00:00.000Z'],
    ['UTC', '9999-12-31', '9999-12-31T00:00:00.000Z'],
  ]
  for (const [zone, day, expected] of cases) t.equal(start(zone, day), expected, `${zone} ${day}`)
  for (const day of ['2026-02-30', '2026-13-01', '2026-1-1', 'today']) {
    t.equal(start('UTC', day), null, day)
  }
})
