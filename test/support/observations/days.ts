/** Days to look at a page with: nothing, a plain one, a full one, a huge one and a hostile one. */
import type {
  ModelText, ScreenDigestInput, ScreenObservationInput, ScreenReason, ScreenReportInput,
} from '../../../src/observations/types.js'
import { periodNamed } from '../../../src/observations/periods.js'
import { input, said, seen } from './inputs.js'

const at = (minutes: number): string =>
  new Date(Date.UTC(2026, 10, 20, 0, 0) + minutes * 60_000).toISOString()

const models: readonly Partial<ModelText>[] = [
  { model: 'gateway/acme/vision-2', replyModel: 'acme/vision-2-2026-08' },
  { model: 'gateway/initech/sight-mini', replyModel: 'initech/sight-mini' },
  { model: 'gateway/acme/report-1', replyModel: 'acme/report-1-2026' },
]

const sentences = [
  'A spreadsheet of supplier prices is open; three rows are marked and a filter is set to Q4.',
  'An editor shows a test file for the import of invoices, with two failing assertions.',
  'A page of documentation in a browser: how a queue keeps its order after a restart.',
  'A calendar of the week with two meetings that overlap on Thursday morning.',
  'A mail to the printing house about the paper of the annual report is being written.',
]

const reason = (
  status: string, code: string, count: number, text: string | null, next: string,
  needsPerson = true,
): ScreenReason => ({ status, reason: code, count, text, next, needsPerson })

const retry = 'One more request for each, which costs again: '
  + '`sallyport shots reanalyze --failed --reason provider_failure_retry`.'

const busyReasons: readonly ScreenReason[] = [
  reason('failed', 'charge_unknown', 2,
    'It may have been sent and its charge is not known; it is not sent again by itself.', retry),
  reason('failed', 'reply_not_json', 3,
    'The reply was not what was asked for; the charge stands.', retry),
  reason('failed', 'http_status_500', 1, null, retry),
  reason('blocked', 'before_consent', 2,
    'The image was taken in before the consent was given, and a consent reaches forward only.',
    'Run `sallyport shots reanalyze --blocked --reason manual_operator_request`.'),
  reason('blocked', 'budget_exhausted', 3, 'The budget of the last 24 hours is used up.',
    'It frees itself hour by hour; or raise it: '
    + '`sallyport shots setup --budget USD`.', false),
]

const busyStatus = (n: number): string => {
  if (n % 6 === 5) return 'failed'
  if (n % 8 === 6) return 'blocked'
  return n === 20 ? 'needs_reanalysis' : n > 37 ? 'pending' : 'succeeded'
}

const busyRows = (): ScreenObservationInput[] => {
  let minute = 7 * 60 + 12
  return Array.from({ length: 40 }, (_, n) => {
    const long = (n * 7) % 38
    const from = minute
    minute += long + 3 + (n === 17 ? 55 : 0)
    const status = busyStatus(n)
    return seen({
      observationId: `obs_01jcv${String(n).padStart(21, '0')}`, status,
      filename: `Screenshot 2026-11-20 at ${at(from).slice(11, 19).replaceAll(':', '.')}.png`,
      capturedAt: at(from), lastSeenAt: at(from + long), likeImages: long, bytes: 412_345 + n * 999,
      summary: status === 'succeeded'
        ? said(sentences[n % 5] ?? '', { ...models[n % 2], writtenAt: at(from + 41) }) : null,
    })
  })
}

const digestAt = (n: number, text: string): ScreenDigestInput => ({
  episodeId: `epi_01jcv${String(n).padStart(21, '0')}`, windowStart: at(n * 30),
  windowEnd: at(n * 30 + 30), sourceObservationIds: ['obs_1', 'obs_2', `obs_${n}`],
  text: said(text, { ...models[2], writtenAt: at(n * 30 + 33) }),
})

const paragraph = 'The half hour went to the import of invoices: a failing test was read, the '
  + 'parser of dates was changed twice, and the list of suppliers was compared with a '
  + 'spreadsheet. A mail to the printing house was begun and not sent.'

/** Forty runs, three models, failures, blocked ones, an overspent budget. */
export const busyDay = (): ScreenReportInput => input({
  madeAt: at(24 * 60), since: at(0), until: at(24 * 60), timeZone: 'UTC',
  observations: busyRows(), reasons: busyReasons,
  moneyDue: { unknownCharges: 2, heldMicrousd: 104_000, overruns: 1 },
  digests: Array.from({ length: 24 }, (_, n) => digestAt(n + 15, paragraph)),
  conclusion: {
    conclusionId: 'ccl_1', digestIds: ['epi_1'], sourceObservationIds: ['obs_1', 'obs_2'],
    current: true, text: said(`${paragraph} ${paragraph}`, { ...models[2], writtenAt: at(1_400) }),
  },
  spend: {
    since: at(0), budgetMicrousd: 500_000, spentMicrousd: 517_820, heldMicrousd: 104_000,
    budgetRequests: 60, requests: 57, disputedCharges: 0,
  },
  spendHours: Array.from({ length: 12 }, (_, n) => ({
    at: at((n + 7) * 60), spentMicrousd: 12_000 + ((n * 37) % 11) * 6_100,
    heldMicrousd: n === 6 ? 104_000 : 0,
  })),
  excluded: { sourceMissing: 2, staleFolder: 0, archived: 1, digests: 0 },
  ignoring: { areas: ['1920x1080:1800,0,120,40'] },
})

/** Five thousand screenshots with realistic names and texts, 48 digests of usual length. */
export const fullDay = (rows = 5_000): ScreenReportInput => input({
  madeAt: at(24 * 60), since: at(0), until: at(24 * 60),
  observations: Array.from({ length: rows }, (_, n) => {
    const from = (n * 1_439) / rows
    return seen({
      observationId: `obs_01jcv${String(n).padStart(21, '0')}`,
      filename: `Screenshot 2026-11-20 at ${at(from).slice(11, 19).replaceAll(':', '.')}.png`,
      capturedAt: at(from), lastSeenAt: at(from + (n % 40 === 0 ? 0.28 * 39 : 0)),
      likeImages: n % 40 === 0 ? 3 : 0, bytes: 300_000 + ((n * 7_919) % 900_000), width: 2_560,
      height: 1_440, status: n % 50 === 7 ? 'failed' : n % 90 === 11 ? 'blocked' : 'succeeded',
      analysed: n % 50 !== 7 && n % 90 !== 11,
      summary: n < rows - 500 || n % 50 === 7 || n % 90 === 11
        ? null : said(sentences[n % 5] ?? '', models[0]),
    })
  }),
  digests: Array.from({ length: 48 }, (_, n) => digestAt(n, `${paragraph} `.repeat(6).trim())),
  conclusion: {
    conclusionId: 'ccl_1', digestIds: ['epi_1'], current: true,
    sourceObservationIds: Array.from({ length: rows }, (_, n) =>
      `obs_01jcv${String(n).padStart(21, '0')}`),
    text: said(`${paragraph} `.repeat(15).trim(), models[2]),
  },
  spend: {
    since: at(0), budgetMicrousd: 5_000_000, spentMicrousd: 4_730_211, heldMicrousd: 0,
    budgetRequests: 10_000, requests: 5_048, disputedCharges: 0,
  },
  spendHours: Array.from({ length: 24 }, (_, n) => ({
    at: at(n * 60), spentMicrousd: 197_000 + n * 11, heldMicrousd: 0,
  })),
  reasons: [reason('failed', 'reply_not_json', rows / 50,
    'The reply was not what was asked for; the charge stands.', retry)],
})

const activities = ['coding', 'reading', 'writing mail', 'meeting']
const projects = ['harbour', 'quay', 'invoices and the annual report', null]

/** A day whose charges are disputed and use its budget up. */
export const disputedDay = (): ScreenReportInput => ({
  ...busyDay(), moneyDue: { unknownCharges: 0, heldMicrousd: 0, overruns: 2 },
  spend: {
    since: at(0), budgetMicrousd: 500_000, spentMicrousd: 917_820, heldMicrousd: 0,
    budgetRequests: 60, requests: 57, disputedCharges: 2,
  },
})

/** A week of days of different length, described but for its last screens. */
export const fullWeek = (): ScreenReportInput => {
  const rows = Array.from({ length: 5 }, (_, d) => Array.from({ length: 40 + d * 9 }, (__, n) => {
    const from = (d - 4) * 1_440 + 480 + n * 7
    return seen({
      observationId: `obs_${d}_${n}`, filename: `Screenshot ${d} ${n}.png`, capturedAt: at(from),
      lastSeenAt: at(from + (n % 4)), likeImages: n % 4, status: n > 60 ? 'pending' : 'succeeded',
      ...(n > 60 ? {} : {
        summary: said(sentences[n % 5] ?? '', models[0]), namedBy: 'gateway/acme/vision-2',
        named: {
          activity: activities[(n >> 2) % 4] ?? null, applications: ['Editor', 'Browser'],
          project: projects[(n >> 3) % 4] ?? null,
        },
      }),
    })
  })).flat()
  return input({
    calendar: periodNamed('week', '2026-11-20'), since: at(-4 * 1_440), until: at(3 * 1_440),
    madeAt: at(1_200), observations: rows,
    digests: Array.from({ length: 12 }, (_, n) => digestAt(n - 150, paragraph)),
  })
}

const word = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(6)
const nasty = [
  word, '\u202eתמונת מסך\u202c.png', 'صورة الشاشة ٢٠٢٦.png',
  '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>', '👩‍👩‍👧‍👦🏳️‍🌈🇩🇪'.repeat(30),
  '\u0000\u001b[31m\u200b', 'a'.repeat(255),
]

/** Texts that want out of their place, and amounts of every length. */
export const hostileDay = (): ScreenReportInput => input({
  madeAt: at(1_440), timeZone: 'America/Argentina/ComodRivadavia',
  observations: nasty.map((text, n) => seen({
    filename: text, capturedAt: at(n * 200), lastSeenAt: at(n * 200 + 190), likeImages: 9_999_999,
    bytes: Number.MAX_SAFE_INTEGER, width: 99_999, height: 99_999, source: text,
    status: n === 0 ? word.toLowerCase() : n === 1 ? 'failed' : 'succeeded',
    summary: said(text, { model: text, replyModel: word }),
  })),
  digests: nasty.map((text, n) => ({ ...digestAt(n, text), text: said(text, { model: text }) })),
  conclusion: {
    conclusionId: word, digestIds: [word], sourceObservationIds: [word, ...nasty], current: false,
    text: said(nasty.join('\n'), { model: word, replyModel: word }),
  },
  reasons: [reason('failed', word, 1, word, `\`${word}\` ${word}`)],
  moneyDue: { unknownCharges: 1, heldMicrousd: Number.MAX_SAFE_INTEGER, overruns: 0 },
  spend: {
    since: at(0), budgetMicrousd: Number.MAX_SAFE_INTEGER - 1,
    spentMicrousd: Number.MAX_SAFE_INTEGER, heldMicrousd: 1_000_017_826,
    budgetRequests: 9_007_199_254_740_991, requests: 9_007_199_254_740_991, disputedCharges: 0,
  },
  spendHours: [{ at: at(60), spentMicrousd: Number.MAX_SAFE_INTEGER, heldMicrousd: 0 }],
  ignoring: { areas: [word] },
})
