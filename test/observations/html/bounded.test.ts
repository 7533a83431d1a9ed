/** A page is small whatever is in a period, and says what it leaves out. */
import t, { type Test } from 'tap'
import { html } from '../../../src/observations/html/markup.js'
import { leftOut, newestWithin } from '../../../src/observations/html/bounded.js'
import { reportPage } from '../../../src/observations/html/page.js'
import { buildReport } from '../../../src/observations/report.js'
import { fullDay } from '../../support/observations/days.js'
import { at, input, said, seen } from '../../support/observations/inputs.js'

const bytesMax = 1_500_000

const plainOf = (page: string): string =>
  page.slice(page.indexOf('<main>')).replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')

/** Asserts that a page says something, without the page in what a failure prints. */
const says = (t: Test, plain: string, wanted: string | RegExp): void => {
  const found = typeof wanted === 'string' ? plain.includes(wanted) : wanted.test(plain)
  t.ok(found, String(wanted))
}

t.test('a day of 5,000 screenshots with realistic texts is a page below 1,500,000 bytes and lists every one of them', async (t) => {
  const report = buildReport(fullDay())
  const page = reportPage(report)
  t.ok(Buffer.byteLength(page) < bytesMax, String(Buffer.byteLength(page)))
  const plain = plainOf(page)
  says(t, plain, 'Table of 5000 screenshots')
  says(t, page, '<td>5000<td>')
  says(t, page, '<td>1<td>')
  t.notOk(plain.includes('lie too close'), 'and each is drawn, piled where they are close')
  says(t, plain, `The newest ${report.model_text.summaries.length} of 4844 screenshots with`)
})

t.test('names, texts and ids of any length leave the page below the same bound, and it says how many are there and how to see the others', async (t) => {
  const long = '&'.repeat(255)
  const text = '\u202e'.repeat(4_000)
  const report = buildReport(input({
    observations: Array.from({ length: 6_000 }, (_, n) => seen({
      observationId: `obs_${n}_${'x'.repeat(60)}`, filename: long, capturedAt: at(0, n % 1_440),
      lastSeenAt: at(0, n % 1_440), source: `source ${n} ${'<'.repeat(50)}`,
      summary: n < 5_500 ? null : said(text, { model: `m${n}` }), analysed: true,
    })),
    digests: Array.from({ length: 3_000 }, (_, n) => ({
      episodeId: `epi_${n}`, windowStart: at(9, n), windowEnd: at(9, n + 30),
      sourceObservationIds: ['obs_1'], text: said(text),
    })),
    ignoring: { areas: Array.from({ length: 9_000 }, (_, n) => `1920x1080:${n},0,120,40`) },
    conclusion: {
      conclusionId: 'ccl_1', digestIds: [], current: true, text: said(text),
      sourceObservationIds: Array.from({ length: 6_000 }, (_, n) => `obs_${n}`),
    },
  }))
  const page = reportPage(report)
  t.ok(Buffer.byteLength(page) < bytesMax, String(Buffer.byteLength(page)))
  const plain = plainOf(page)
  says(t, plain, /(?<!newest )\b[0-9]+ of 6000 screenshots are here\. A shorter period/)
  says(t, plain, '1920x1080:39,0,120,40, and 8960 more.')
  says(t, plain, /The newest [0-9]+ of 3000 episodes are here/)
  says(t, plain, /The newest [0-9]+ of 6000 screenshots with an analysis have their summary/)
  says(t, plain, /The newest [0-9]+ of 6000 ids are here/)
  says(t, plain, 'sallyport shots report --json names all')
  says(t, plain, 'Listed are 5000 of 6000 screens: the newest, and those whose')
})

t.test('days whose bars do not fit are left out whole, oldest first, and bars of one day that do not fit are counted', async (t) => {
  const dayMs = 86_400_000
  const days = Array.from({ length: 5_000 }, (_, n) => {
    const iso = new Date(Date.parse(at(0)) + (n % 25) * dayMs + Math.floor(n / 25) * 420_000)
    return seen({
      capturedAt: iso.toISOString(), lastSeenAt: new Date(iso.getTime() + 400_000).toISOString(),
      filename: 'x'.repeat(40),
    })
  }).sort((a, b) => (a.capturedAt < b.capturedAt ? -1 : 1))
  const until = new Date(Date.parse(at(0)) + 26 * dayMs).toISOString()
  const many = reportPage(buildReport(input({ until, observations: days })))
  const drawn = [...many.matchAll(/<figure class="day">/g)].length
  says(t, plainOf(many), `The newest ${drawn} of 25 days are drawn`)
  t.ok(drawn > 3 && drawn < 25, String(drawn))
  says(t, many, '<h3 id="day-2026-12-14">Monday, 14 December 2026')
  const close = reportPage(buildReport(input({
    observations: Array.from({ length: 3_000 }, (_, n) =>
      seen({ capturedAt: at(0, n % 700), lastSeenAt: at(0, (n % 700) + 60) })),
  })))
  const bars = [...close.matchAll(/<rect class="s-succeeded"/g)].length - 1
  says(t, plainOf(close), `${3_000 - bars} more bars of this day lie too close to be drawn`)
})

t.test('where the table of screenshots is cut, what is left begins with its day', async (t) => {
  const page = reportPage(buildReport(input({
    observations: Array.from({ length: 5_000 }, (_, n) =>
      seen({
        capturedAt: at(0, n % 1_440), lastSeenAt: at(0, n % 1_440), filename: 'x'.repeat(120),
      })),
  })))
  const table = page.slice(page.indexOf('<table class="runs">'))
  const body = table.slice(table.indexOf('<tbody>'), table.indexOf('</table>'))
  t.notOk(body.includes('<td>1<td>'), 'the first ones are left out')
  t.match(body.slice(0, 200), 'Friday, 20 November 2026')
})

t.test('the newest entries are kept in their order and the bytes are counted, not the characters', (t) => {
  const render = (n: number) => html`${['é', 'bb', 'c'][n] ?? ''}`
  const texts = (bytes: number) => newestWithin(3, bytes, render).parts.map(({ text }) => text)
  t.strictSame(texts(5), ['é', 'bb', 'c'])
  t.strictSame(texts(4), ['bb', 'c'])
  t.strictSame(texts(0), [])
  t.equal(newestWithin(3, 4, render).left, 1)
  t.equal(leftOut(3, 3, 'x').text, '')
  t.end()
})
