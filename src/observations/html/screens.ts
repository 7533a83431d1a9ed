/** The table of screenshots: when each was seen, how long it stood, and the facts of its file. */
import type { ScreenReport } from '../report.js'
import { dimensionsText, sizeText, spanText, statusText } from '../words.js'
import { longDay, type Zone } from '../zone.js'
import { leftOut, listBytes, newestWithin } from './bounded.js'
import { html, nothing, type Markup } from './markup.js'
import { momentNear } from './pieces.js'

/** So many stand open; more are unfolded by whoever wants them. */
const openMax = 25

const head = html`<thead><tr><th scope="col">#</th><th scope="col">seen</th>
<th scope="col">until</th><th scope="col">stood</th><th scope="col">like</th>
<th scope="col">status</th><th scope="col">name</th><th scope="col">format</th>
<th scope="col">dimensions</th><th scope="col">size</th></tr></thead>`

const isNewDay = ({ course: { runs } }: ScreenReport, zone: Zone, at: number): boolean => {
  const [before, run] = [runs[at - 1], runs[at]]
  return run !== undefined
    && (before === undefined || zone.at(before.captured_at).day !== zone.at(run.captured_at).day)
}

const dayRow = (zone: Zone, moment: string): Markup =>
  html`<tr><th scope="colgroup" colspan="10"><b>${longDay(zone.at(moment).day)}</b></th></tr>`

const rowMarkup = (report: ScreenReport, zone: Zone, at: number): Markup => {
  const run = report.course.runs[at]
  const fact = report.facts.observations[at]
  if (run === undefined || fact === undefined) return nothing
  const stood = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
  const { time } = zone.at(run.captured_at)
  const day = isNewDay(report, zone, at) ? dayRow(zone, run.captured_at) : nothing
  const until = stood > 0 ? momentNear(zone, run.last_seen_at, run.captured_at) : ''
  // The end tags of cells and rows may be left out, and thousands of rows are the page's bulk.
  return html`${day}<tr><td>${at + 1}<td>${time}<td>${until}<td>${
    stood > 0 ? spanText(stood) : ''}<td>${run.like_images === 0 ? '' : run.like_images}<td>${
    statusText(run.status)}<td><bdi>${fact.filename}</bdi><td>${fact.format}<td>${
    dimensionsText(fact.width, fact.height)}<td>${sizeText(fact.bytes)}
`
}

/** Every screenshot that the report lists, as far as it fits. */
export const screensPart = (report: ScreenReport, zone: Zone): Markup => {
  const { facts } = report
  if (facts.count === 0) return nothing
  const { parts, left } = newestWithin(facts.observations.length, listBytes.rows, (at) =>
    rowMarkup(report, zone, at))
  // Where older ones are left out, the day of the first one shown stood at one of those.
  const first = report.course.runs[left]
  const day = first === undefined || isNewDay(report, zone, left)
    ? nothing : dayRow(zone, first.captured_at)
  const few = parts.length <= openMax
  const open = few ? html` open` : nothing
  return html`<section aria-labelledby="screens"><h2 id="screens">Screenshots</h2>
${leftOut(parts.length, facts.count, 'screenshots', facts.listed < facts.count ? '' : undefined)}
<details class="${few ? 'short' : 'long'}"${open}><summary>Table of ${parts.length}
${parts.length === 1 ? 'screenshot' : 'screenshots'}</summary>
<div class="wide" role="region" aria-label="Table of screenshots" tabindex="0">
<table class="runs">${head}<tbody>${day}${parts}</tbody></table></div></details></section>`
}
