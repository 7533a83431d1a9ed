/** Why observations stand as they do, and what waits for a person. */
import t from 'tap'
import { reportPage } from '../../../src/observations/html/page.js'
import { buildReport } from '../../../src/observations/report.js'
import { reportText } from '../../../src/observations/text.js'
import type { ScreenReason, ScreenReportInput } from '../../../src/observations/types.js'
import { busyDay } from '../../support/observations/days.js'
import { input, seen } from '../../support/observations/inputs.js'

const plainOf = (page: string): string =>
  page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

const part = (changes: Partial<ScreenReportInput>, id: string): string => {
  const page = reportPage(buildReport(input(changes)))
  const from = page.indexOf(`<section aria-labelledby="${id}"`)
  return plainOf(page.slice(from, page.indexOf('</section>', from)))
}

const why = (changes: Partial<ScreenReason>): ScreenReason => ({
  status: 'failed', reason: 'reply_not_json', count: 1, text: 'The reply was not JSON.',
  next: 'Run `sallyport x --y`.', needsPerson: true, ...changes,
})

const rows = (failed: number, blocked: number) => [
  ...Array.from({ length: failed }, () => seen({ status: 'failed' })),
  ...Array.from({ length: blocked }, () => seen({ status: 'blocked' })),
]

t.test('failed and blocked observations are told with each reason and its count, and those that were not looked at are said', async (t) => {
  const told = part({
    observations: rows(7, 5),
    reasons: [
      why({ count: 4 }), why({ reason: 'http_status_500', text: null, count: 3 }),
      why({ status: 'blocked', reason: 'budget_exhausted', count: 3, needsPerson: false,
        text: 'It is used up.', next: 'It frees itself; or `sallyport z`.' }),
    ],
  }, 'mix')
  t.match(told, 'failed 7 4 The reply was not JSON. reply_not_json 3 No sentence is kept')
  t.match(told, 'for this reason. http_status_500')
  t.match(told, 'blocked 5 3 It is used up. budget_exhausted It frees itself; or sallyport z .')
  t.match(told, '2 more, whose reasons were not looked at')
})

t.test('reasons that do not fit on a page are counted with their images, and so is what waits for a person', async (t) => {
  const statuses = Array.from({ length: 150 }, (_, n) => why({
    reason: `http_status_${400 + n}`, count: 2, next: `Run \`sallyport x --number ${n}\`.`,
  }))
  const changes = { observations: rows(301, 0), reasons: statuses }
  const told = part(changes, 'mix')
  const shown = told.split('The reply was not JSON.').length - 1
  t.ok(shown > 10 && shown < 150, String(shown))
  t.match(told, `${2 * (150 - shown)} more, for ${150 - shown} other reasons:`)
  t.match(told, '1 more, whose reasons were not looked at')
  const waits = part(changes, 'waits')
  const here = waits.split('sallyport x --number').length - 1
  t.match(waits, 'Waits for a person 150')
  t.match(waits, `and ${150 - here} more`)
})

t.test('the text of a report tells the reasons with their counts, too', async (t) => {
  const plain = { foreign: (text: string) => text, strong: (text: string) => text }
  const text = reportText(buildReport(input({
    observations: rows(2, 1), reasons: [why({ count: 1 }), why({ reason: 'http_500', text: null })],
  })), plain)
  t.match(text, /failed +2\n +1 {2}reply_not_json: The reply was not JSON\.\n +1 {2}http_500\n/)
})

t.test('what waits for a person is told once for each step, with the command; what opens by itself is not', async (t) => {
  const told = part({
    observations: rows(7, 5),
    reasons: [
      why({ count: 4 }), why({ reason: 'http_status_500', count: 3 }),
      why({ status: 'blocked', reason: 'before_consent', count: 2, text: 'Taken before.' }),
      why({ status: 'blocked', reason: 'budget_exhausted', count: 3, needsPerson: false }),
    ],
    moneyDue: { unknownCharges: 2, heldMicrousd: 104_000, overruns: 1 },
  }, 'waits')
  t.match(told, 'Waits for a person 4')
  t.match(told, '2 charges are not known, and $0.104 stay held.')
  t.match(told, 'sallyport ledger settle OPERATION --amount USD')
  t.match(told, '1 charge passed the bound of a request and is disputed.')
  t.match(told, '7 failed, for 2 reasons. Run sallyport x --y . Reasons')
  t.match(told, '2 blocked: Taken before. before_consent Run sallyport x --y .')
  t.notMatch(told, 'budget_exhausted')
  t.match(part({}, 'waits'), 'Nothing of this period does.')
})

t.test('a disputed charge of the day is told in text, among what waits and beside the money; one of another day does not count in it', async (t) => {
  const of = (disputedCharges: number, overruns = 0): Partial<ScreenReportInput> => ({
    moneyDue: { unknownCharges: 0, heldMicrousd: 0, overruns },
    spend: {
      since: '2026-11-20T09:00:00.000Z', budgetMicrousd: 5, spentMicrousd: 9, heldMicrousd: 0,
      budgetRequests: 9, requests: 1, disputedCharges,
    },
  })
  const plain = { foreign: (text: string) => text, strong: (text: string) => text }
  t.match(reportText(buildReport(input(of(2))), plain),
    'disputed  2 charges above their bounds, waiting for a review')
  t.match(part(of(1), 'spend'), 'disputed 1 charge above its bound, waiting for a review')
  t.match(part(of(1), 'waits'), '1 charge passed the bound of a request and is disputed; the day '
    + 'counts the whole of it.')
  t.notMatch(part(of(1), 'waits'), 'overspent')
  t.match(part(of(2, 3), 'waits'),
    '3 charges passed the bound of a request and are disputed; the day counts the whole of 2 .')
  const other = part(of(0, 1), 'waits')
  t.match(other, '1 charge passed the bound of a request and is disputed. ')
  t.match(other, 'The budget of the day is overspent')
  t.notMatch(part(of(0, 1), 'spend'), 'disputed')
})

t.test('a model is named once on a page: alone before its texts, among several by a number, and a section of one model says so once', async (t) => {
  const day = busyDay()
  const plain = plainOf(reportPage(buildReport(day)))
  for (const name of ['gateway/acme/report-1', 'gateway/acme/vision-2',
    'gateway/initech/sight-mini']) {
    t.equal(plain.split(name).length - 1, 1, name)
  }
  t.match(plain, 'Written by 3 language models.')
  t.match(plain, '1 gateway/acme/report-1 (replied as acme/report-1-2026 ) , 25 texts')
  t.match(plain, 'Episodes All by model 1 . 07:30 to 08:00')
  t.match(plain, /2 written 07:53.*3 written 07:56/)
  const alone = plainOf(reportPage(buildReport({ ...day, observations: day.observations.slice(0, 1),
    conclusion: null, digests: [] })))
  t.match(alone, 'Written by the language model gateway/acme/vision-2')
  t.equal(alone.split('gateway/acme/vision-2').length - 1, 1)
  t.notMatch(alone, /All by model|[0-9] written/)
})
