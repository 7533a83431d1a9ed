/** Links to the pages of other periods: relative, by the names that those pages always have. */
import { beside, pageName, periodNamed, periodTitle, type CalendarPeriod } from '../periods.js'
import type { Zone } from '../zone.js'
import { html, nothing, type Markup } from './markup.js'
import type { PagesBeside, ShownReport } from './shown.js'

/** The day, week or month of a report; null where it is none. */
export const calendarOf = ({ period }: ShownReport, zone: Zone): CalendarPeriod | null =>
  (period.kind === null ? null : periodNamed(period.kind, zone.at(period.since).day))

const link = (to: CalendarPeriod): Markup =>
  html`<a href="./${pageName(to)}">${periodTitle(to)}</a>`

const within = ({ kind, first }: CalendarPeriod, pages: PagesBeside): Markup[] =>
  (['week', 'month'] as const)
    .filter((wider) => kind !== wider && kind !== 'month')
    .map((wider) => periodNamed(wider, first))
    .filter((to) => pages.has(pageName(to)))
    .map((to) => html`<li>In ${link(to)}</li>`)

/**
 * The page before and the one behind: what lies there now is a link, what can come later is one
 * that says so, and an earlier one that is not there is left out.
 */
export const nearPart = (report: ShownReport, zone: Zone): Markup => {
  const { pages } = report
  const calendar = calendarOf(report, zone)
  if (pages === undefined || calendar === null) return nothing
  const { before, behind } = beside(calendar)
  const later = pages.has(pageName(behind)) ? nothing
    : html` <small>(works once that page is made)</small>`
  return html`<nav class="near" aria-label="Other pages"><ul>
${pages.has(pageName(before)) ? html`<li>Before: ${link(before)}</li>` : nothing}
<li>Next: ${link(behind)}${later}</li>${within(calendar, pages)}</ul></nav>`
}
