/** What was done, first: how long, by what the model named. */
import type { ScreenReport } from '../report.js'
import type { TimeSum } from '../sums.js'
import { countText, spanText, statusText } from '../words.js'
import { html, nothing, type Markup } from './markup.js'
import { num, numbered, withCommands } from './pieces.js'
import type { ShownReport } from './shown.js'

/** Names that are told of a sum, and models that gave them; the others are counted. */
const namesMax = 12
const modelsMax = 3

const table = (title: string, sums: readonly TimeSum[]): Markup => {
  if (sums.length === 0) return nothing
  const rows = sums.slice(0, namesMax).map(({ name, seconds }) =>
    html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="v">${num(spanText(seconds * 1_000))}
</td></tr>`)
  const left = sums.length - namesMax
  const more = left <= 0 ? nothing
    : html`<p class="soft">And ${countText(left, 'other')}, in the JSON of this report.</p>`
  return html`<section><h3>${title} <small>written by the model</small></h3>
<table><tbody>${rows}</tbody></table>${more}</section>`
}

/** Who gave the names: it stands at the sums. */
const label = (models: readonly string[]): Markup => {
  const names = models.slice(0, modelsMax).map((name, at) =>
    html`${at === 0 ? '' : ', '}<bdi>${name}</bdi>`)
  const more = models.length > modelsMax ? ` and ${models.length - modelsMax} more` : ''
  return html`<p class="soft by-model">The names were <b>written by the model</b>
${names}${more}; how long each was on the screen was counted.</p>`
}

/** What of the period is not in the sums, and why; nothing where all of it is. */
const partly = (report: ShownReport): Markup => {
  const { facts, model_text: { time, summary_count: described } } = report
  const [open, left] = [facts.count - described, described - time.observation_count]
  const undescribed = open <= 0 ? nothing
    : html`${num(open)} of ${num(facts.count)} observations are not described, and no time is told
of them.`
  const others = left <= 0 ? nothing
    : html` ${num(left)} described ${left === 1 ? 'one does' : 'ones do'} not count: first seen
before this period, or not readable, which
${withCommands('`sallyport state check`', report)} tells.`
  return open + left <= 0 ? nothing : html`<p class="note">${undescribed}${others}</p>`
}

/** A day without a sum says why. */
const untold = ({ facts, course, provenance, model_text: model }: ScreenReport): Markup => {
  const { source_missing: missing, stale_root: stale, archived } = provenance.excluded
  const left = missing + stale + archived
  if (facts.count === 0) {
    return html`<p>No screenshot of this period may be reported. ${left === 0
      ? 'None of it was taken in.'
      : html`${num(countText(left, 'observation'))} of it ${left === 1 ? 'is' : 'are'} left out.
<a href="#provenance">Where it comes from</a> says why.`}</p>`
  }
  if (model.summary_count > 0) {
    return html`<p>No time is told of this period: what is described in it was first seen before,
or cannot be read.</p>`
  }
  const mix = Object.entries(course.statuses).sort(([, a], [, b]) => b - a)
    .map(([status, count]) => `${count} ${statusText(status)}`).join(', ')
  return html`<p>Nothing of this period is described, so no time is told of it. Of
${numbered(`${countText(facts.count, 'observation')}: ${mix}.`)}
<a href="#waits">What waits</a> says what it needs.</p>`
}

/** Time by project, activity and application; a sentence where there is none. */
export const timePart = (report: ShownReport): Markup => {
  const { model_text: { time } } = report
  const head = html`<h2 id="time">What was done</h2>`
  if (time.observation_count === 0) {
    return html`<section aria-labelledby="time">${head}${untold(report)}</section>`
  }
  return html`<section aria-labelledby="time">${head}
<p class="soft">${num(spanText(time.seconds * 1_000))} on the screen. Several applications may be
visible at once.</p>${label(time.models)}${partly(report)}
<div class="pair sums">${table('Project', time.project)}${table('Activity', time.activity)}
${table('Application', time.application)}</div></section>`
}
