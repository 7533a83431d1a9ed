/** Money on the page: an amount never breaks, and an overspent budget is said and marked. */
import t from 'tap'
import { moneyStand, requestStand, type ReportSpend } from '../../../src/observations/budget.js'
import { reportPage } from '../../../src/observations/html/page.js'
import { buildReport } from '../../../src/observations/report.js'
import { reportText } from '../../../src/observations/text.js'
import { at, input } from '../../support/observations/inputs.js'

const most = Number.MAX_SAFE_INTEGER

const reportOf = (spent: number, held: number, budget: number | null, requests = 1) =>
  buildReport(input({
    spend: {
      since: at(0), budgetMicrousd: budget, spentMicrousd: spent, heldMicrousd: held,
      budgetRequests: 10, requests, disputedCharges: 0,
    },
  }))

const pageOf = (...spend: Parameters<typeof reportOf>): string => reportPage(reportOf(...spend))

const standOf = (...spend: Parameters<typeof reportOf>) =>
  reportOf(...spend).course.spend as ReportSpend

const plainOf = (page: string): string =>
  page.slice(page.indexOf('<main>')).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

t.test('every amount of money stands in an element whose text never breaks, in tiles, tables and sentences', async (t) => {
  for (const amount of ['$9007199254.740991', '$1000.017826']) {
    const micro = Number(amount.slice(1).replace('.', ''))
    const page = pageOf(micro, 0, most)
    const places = [...page.matchAll(/\$[0-9]+\.[0-9]+/g)]
      .filter(({ index }) => !/<(title|desc)[^>]*>[^<]*$/.test(page.slice(0, index)))
    t.ok(places.length >= 2, 'tile and table')
    for (const { index } of places) {
      t.match(page.slice(Math.max(0, index - 60), index), /class="num">[^<]*$/, amount)
    }
    const tile = /<li class="wide-tile [a-z]*" style="--chars:(\d+)"><b class="num">\$/.exec(page)
    t.equal(Number(tile?.[1]), amount.length, 'and a tile knows the length of its value')
  }
  const page = pageOf(1, 0, 2)
  t.match(page, /\n\.num \{ white-space: nowrap;/)
  t.notMatch(page, /\.figures b \{[^}]*(overflow-wrap|word-break)/)
  t.match(page, /\.figures b \{[^}]*font-size: clamp\([^}]*var\(--chars\)/)
})

t.test('a budget is overspent when what was spent and what is held exceed it, and near from nine tenths on', async (t) => {
  const cases: [number, number, number | null, string, number][] = [
    [100, 0, null, 'no_budget', 0], [100, 0, 1_000, 'within', 900], [899, 0, 1_000, 'within', 101],
    [900, 0, 1_000, 'near', 100], [800, 100, 1_000, 'near', 100], [900, 100, 1_000, 'near', 0],
    [900, 101, 1_000, 'over', 1], [1_001, 0, 1_000, 'over', 1], [0, 0, 0, 'within', 0],
    [1, 0, 0, 'over', 1],
  ]
  for (const [spent, held, budget, state, rest] of cases) {
    t.strictSame(moneyStand(standOf(spent, held, budget)), { state, rest }, `${spent} ${held}`)
  }
  t.strictSame(requestStand(standOf(0, 0, 1, 11)), { state: 'over', rest: 1 })
  t.strictSame(requestStand(standOf(0, 0, 1, 9)), { state: 'near', rest: 1 })
})

t.test('an overspent budget is told in words, beside a mark, in the tile, the section and what waits; one that is kept is not', async (t) => {
  const over = pageOf(517_820, 104_000, 500_000)
  const words = plainOf(over)
  t.match(words, 'Over the budget by $0.12182 with what is held')
  t.match(words, 'spent in 24 hours, over the budget')
  t.match(words, 'The budget of the day is overspent by $0.12182')
  t.match(over, '<p class="alert over"><i class="mark" aria-hidden="true">!</i>')
  t.match(over, /<li class="wide-tile over"[^>]*>[^!]*<span><i class="mark"/)
  t.match(over, '<line class="limit"', 'and the bar shows where the budget ends')
  const near = plainOf(pageOf(450_000, 0, 500_000))
  t.match(near, 'Near the budget : $0.05 is left')
  t.match(near, 'spent in 24 hours, near the budget')
  t.notMatch(near, /Over the budget|overspent/)
  const within = pageOf(100, 0, 500_000)
  t.notMatch(plainOf(within), /Over the budget|Near the budget|overspent/)
  t.notMatch(within.slice(within.indexOf('<main>')), /class="(mark|limit|alert)/)
})

t.test('the text of a report says that the budget is overspent, too', async (t) => {
  const plain = { foreign: (text: string) => text, strong: (text: string) => text }
  t.match(reportText(reportOf(517_820, 0, 500_000), plain), '$0.51782 of $0.50, over by $0.01782\n')
  t.match(reportText(reportOf(400_000, 104_000, 500_000), plain),
    '$0.40 of $0.50, over by $0.004 with what is held\n')
  t.notMatch(reportText(reportOf(500_000, 0, 500_000), plain), 'over by')
})
