/** How the observations stand: the mix of statuses, why some failed or wait, and for whom. */
import type { ReportReason, ScreenReport } from '../report.js'
import { countOfReasons, waitingOf, type Waits } from '../waits.js'
import { countText, reusedText, statusText } from '../words.js'
import { statusClass } from './axis.js'
import { stacked } from './bars.js'
import { firstWithin, listBytes } from './bounded.js'
import { html, nothing, type Markup } from './markup.js'
import { alertMark, allOfReport, num, numbered, withCommands } from './pieces.js'
import type { PageWriting, ShownReport } from './shown.js'

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

const reasonList = (report: ShownReport, status: string, all: number): Markup => {
  const { course } = report
  const reasons = course.reasons.filter((one) => one.status === status)
  if (reasons.length === 0) return nothing
  const { parts, left } = firstWithin(reasons.length, listBytes.reasons, (at) =>
    reasonMarkup(reasons[at] as ReportReason, report))
  const cut = countOfReasons(reasons.slice(parts.length))
  const other = left === 0 ? nothing : html`<li>${num(cut)} <span>more, for
${countText(left, 'other reason')}: ${withCommands(allOfReport, report)}</span></li>`
  const rest = all - countOfReasons(reasons)
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

/** How many things wait for a person. */
export const waitingCount = (report: ScreenReport): number => waitingOf(report).length

const linkNames = { mix: 'Reasons', spend: 'Spend' } as const

/** What waits for a person, and what to do; one line where nothing does. */
export const waitingPart = (report: ShownReport): Markup => {
  const waiting = waitingOf(report)
  if (waiting.length === 0) {
    return html`<section aria-labelledby="waits" class="calm"><h2 id="waits">Waits for a person</h2>
<p>Nothing of this period does.</p></section>`
  }
  const { parts, left } = firstWithin(waiting.length, listBytes.reasons, (at) => {
    const { head, code, next, part } = waiting[at] as Waits
    const link = part === null ? nothing : html` <a href="#${part}">${linkNames[part]}</a>`
    const what = next === null ? nothing
      : html`<p class="note">${withCommands(next, report)}${link}</p>`
    return html`<li>${alertMark}<div><p>${numbered(head)}${code === null ? nothing
      : html` <code>${code}</code>`}</p>
${what}</div></li>`
  })
  const more = left === 0 ? nothing : html`<p class="note">and ${num(left)} more</p>`
  return html`<section aria-labelledby="waits" class="waits"><h2 id="waits">Waits for a person
<span class="count">${waiting.length}</span></h2><ul class="waiting">${parts}</ul>${more}</section>`
}
