/** How the observations stand: the mix of statuses, why some failed or wait, and for whom. */
import { overspentBy } from '../budget.js'
import type { ReportReason, ScreenReport } from '../report.js'
import { countText, reusedText, statusText } from '../words.js'
import { statusClass } from './axis.js'
import { stacked } from './bars.js'
import { firstWithin, listBytes } from './bounded.js'
import { html, nothing, type Markup } from './markup.js'
import { alertMark, allOfReport, dollars, num, withCommands } from './pieces.js'
import { plainWriting, type PageWriting, type ShownReport } from './shown.js'

const statusBar = ({ course, facts }: ScreenReport): Markup =>
  stacked('mix', 'Analysis status', Object.entries(course.statuses)
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => ({
      className: statusClass(status), share: count / Math.max(1, facts.count),
      text: `${statusText(status)} ${count}`,
    })))

const reasonMarkup = (
  { reason, count, text, next, needs_person: person }: ReportReason, writing: PageWriting,
): Markup =>
  html`<li>${num(count)} <span>${text ?? 'No sentence is kept for this reason.'}
<code>${reason}</code>${next === null || person ? nothing
    : html` <small>${withCommands(next, writing)}</small>`}</span></li>`

const countOf = (reasons: readonly ReportReason[]): number =>
  reasons.reduce((sum, { count }) => sum + count, 0)

const reasonList = (report: ShownReport, status: string, all: number): Markup => {
  const { course } = report
  const reasons = course.reasons.filter((one) => one.status === status)
  if (reasons.length === 0) return nothing
  const { parts, left } = firstWithin(reasons.length, listBytes.reasons, (at) =>
    reasonMarkup(reasons[at] as ReportReason, report))
  const cut = countOf(reasons.slice(parts.length))
  const other = left === 0 ? nothing : html`<li>${num(cut)} <span>more, for
${countText(left, 'other reason')}: ${withCommands(allOfReport, report)}</span></li>`
  const rest = all - countOf(reasons)
  const more = rest > 0
    ? html`<li>${num(rest)} <span>more, whose reasons were not looked at</span></li>` : nothing
  return html`<ul class="why">${parts}${other}${more}</ul>`
}

const reusedList = ({ course: { reused } }: ScreenReport): Markup => (reused === 0 ? nothing
  : html`<ul class="why"><li>${num(reused)} <span>${reusedText}</span></li></ul>`)

/** The mix of statuses, each with its reasons. */
export const statusPart = (report: ShownReport): Markup => {
  const { statuses } = report.course
  const rows = Object.entries(statuses).sort(([, a], [, b]) => b - a)
    .map(([status, count]) => html`<li><p class="row"><span><i class="${statusClass(status)}"></i>
${statusText(status)}</span> <b class="num">${count}</b></p>
${status === 'succeeded' ? reusedList(report) : nothing}\
${reasonList(report, status, count)}</li>`)
  return html`<section aria-labelledby="mix"><h2 id="mix">Analysis status</h2>
${statusBar(report)}<ul class="mix">${rows}</ul></section>`
}

interface Waiting {
  readonly head: Markup
  readonly next: Markup
}

const moneyWaits = (report: ShownReport): Waiting[] => {
  const { course } = report
  const { unknown_charges: unknown, held_microusd: held, overruns: ofRows } = course.money_due
  const today = course.spend?.disputed_charges ?? 0
  const overruns = Math.max(ofRows, today)
  const those = today < overruns ? num(today) : html`${today === 1 ? 'it' : 'them'}`
  const whole = today === 0 ? nothing : html`; the day counts the whole of ${those}`
  const see = 'See `sallyport ledger reservations`, then for each '
  return [
    ...(unknown === 0 ? [] : [{
      head: html`${num(unknown)} ${unknown === 1 ? 'charge is' : 'charges are'} not known,
and ${dollars(held)} ${unknown === 1 ? 'stays' : 'stay'} held.`,
      next: withCommands(
        `${see}\`sallyport ledger settle OPERATION --amount-microusd N\`.`, report),
    }]),
    ...(overruns === 0 ? [] : [{
      head: html`${num(overruns)} ${overruns === 1 ? 'charge' : 'charges'} passed the bound of a
request and ${overruns === 1 ? 'is' : 'are'} disputed${whole}.`,
      next: withCommands(`${see}\`sallyport ledger review OPERATION\`.`, report),
    }]),
  ]
}

const budgetWaits = (report: ShownReport): Waiting[] => {
  const { spend } = report.course
  const over = spend === null ? null : overspentBy(spend)
  return over === null ? [] : [{
    head: html`The budget of the day is overspent by ${dollars(over)}.`,
    next: html`${withCommands('Wait, or raise it: '
      + '`sallyport shots config set --budget-microusd N`.', report)} <a href="#spend">Spend</a>`,
  }]
}

/** Observations that one step takes on are told together; why is told with their status. */
const reasonWaits = (report: ShownReport): Waiting[] => {
  const { course } = report
  const groups = new Map<string, ReportReason[]>()
  for (const one of course.reasons.filter(({ needs_person: person }) => person)) {
    const key = JSON.stringify([one.status, one.next])
    groups.set(key, [...groups.get(key) ?? [], one])
  }
  return [...groups.values()].map((group) => {
    const { status, text, reason, next } = group[0] as ReportReason
    const count = countOf(group)
    const why = group.length === 1 ? html`: ${text ?? ''} <code>${reason}</code>`
      : html`, for <a href="#mix">${group.length} reasons</a>.`
    return {
      head: html`${num(count)} ${statusText(status)}${why}`,
      next: next === null ? nothing : withCommands(next, report),
    }
  })
}

/** Everything that goes on only when a person acts, money first. */
const waitingOf = (report: ShownReport): Waiting[] =>
  [...moneyWaits(report), ...budgetWaits(report), ...reasonWaits(report)]

/** How many things wait for a person. */
export const waitingCount = (report: ScreenReport): number =>
  waitingOf({ ...report, ...plainWriting }).length

/** What waits for a person, and what to do; one line where nothing does. */
export const waitingPart = (report: ShownReport): Markup => {
  const waiting = waitingOf(report)
  if (waiting.length === 0) {
    return html`<section aria-labelledby="waits" class="calm"><h2 id="waits">Waits for a person</h2>
<p>Nothing of this period does.</p></section>`
  }
  const { parts, left } = firstWithin(waiting.length, listBytes.reasons, (at) => {
    const { head, next } = waiting[at] as Waiting
    return html`<li>${alertMark}<div><p>${head}</p>
${next === nothing ? nothing : html`<p class="note">${next}</p>`}</div></li>`
  })
  const more = left === 0 ? nothing : html`<p class="note">and ${num(left)} more</p>`
  return html`<section aria-labelledby="waits" class="waits"><h2 id="waits">Waits for a person
<span class="count">${waiting.length}</span></h2><ul class="waiting">${parts}</ul>${more}</section>`
}
