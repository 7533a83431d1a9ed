/**
 * A report as one self-contained page: no script, nothing loaded, no picture of a screen. A policy
 * in its head forbids everything but its own style, so even markup that slipped through an escape
 * could load and run nothing.
 */
import type { ScreenReport } from '../report.js'
import { countText, dimensionsText, dollarsText, sizeText, spanText, statusText } from '../words.js'
import { zoneOf, type Zone } from '../zone.js'
import { hourBars, spendBar, statusBar, statusKey, timeline } from './charts.js'
import { html, Markup, nothing } from './markup.js'
import { pageStyle } from './style.js'

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

const moment = (zone: Zone, iso: string): string => {
  const { day, time } = zone.at(iso)
  return `${day} ${time}`
}

const figure = (value: string | number, text: string): Markup =>
  html`<li><b>${value}</b><span>${text}</span></li>`

const keyFigures = ({ facts, course, model_text: model }: ScreenReport): Markup => {
  const analysed = course.statuses['succeeded'] ?? 0
  const { spend } = course
  const runs = course.runs.filter((run) => run.like_images > 0).length
  return html`<ul class="figures">
${figure(course.image_count, course.image_count === 1 ? 'image' : 'images')}
${figure(facts.count, facts.count === 1 ? 'observation' : 'observations')}
${figure(runs, runs === 1 ? 'run of like images' : 'runs of like images')}
${figure(analysed, 'analysed')}
${figure(model.digests.length, model.digests.length === 1 ? 'digest' : 'digests')}
${spend === null ? nothing : figure(dollarsText(spend.spent_microusd), 'spent in 24 hours')}</ul>`
}

interface Written {
  readonly text: string
  readonly model: string
  readonly reply_model: string
  readonly written_at: string
  readonly outdated: boolean
}

const byline = (one: Written, zone: Zone): Markup =>
  html`<p class="by">Written by <bdi>${one.model}</bdi> (<bdi>${one.reply_model}</bdi>) at
${moment(zone, one.written_at)}${one.outdated ? ', before a later change' : ''}</p>`

const conclusionPart = ({ model_text: model }: ScreenReport, zone: Zone): Markup => {
  const { conclusion } = model
  if (conclusion === null) return nothing
  const from = countText(conclusion.source_observation_count, 'screenshot')
  const age = conclusion.current ? nothing
    : html`<p class="note">It was made from ${from} of an earlier state of this period.</p>`
  return html`<section aria-labelledby="conclusion"><h2 id="conclusion">Conclusion</h2>
<blockquote class="said">${conclusion.text}</blockquote>${byline(conclusion, zone)}${age}</section>`
}

const courseRows = (report: ScreenReport, zone: Zone): Markup[] =>
  report.course.runs.map((run, at) => {
    const stood = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
    return html`<tr><td class="n">${at + 1}</td><td class="t">${moment(zone, run.captured_at)}</td>
<td class="t">${stood > 0 ? zone.at(run.last_seen_at).time : ''}</td>
<td class="n">${stood > 0 ? spanText(stood) : ''}</td><td class="n">${run.like_images}</td>
<td>${statusText(run.status)}</td></tr>`
  })

const coursePart = (report: ScreenReport, zone: Zone): Markup => {
  if (report.facts.count === 0) {
    return html`<section><h2>Course</h2>
<p>No screenshot of this period may be reported.</p></section>`
  }
  return html`<section aria-labelledby="course"><h2 id="course">Course of the day</h2>
${timeline(report, zone)}${statusKey(report)}
<details><summary>The course as a table</summary><div class="wide" tabindex="0">
<table><thead><tr><th class="n">#</th><th>seen</th><th>until</th><th class="n">stood</th>
<th class="n">like images</th><th>analysis</th></tr></thead>
<tbody>${courseRows(report, zone)}</tbody></table></div></details></section>`
}

const statusRows = ({ course }: ScreenReport): Markup[] =>
  Object.entries(course.statuses).sort(([, a], [, b]) => b - a).map(([status, count]) =>
    html`<tr><td>${statusText(status)}</td><td class="n">${count}</td></tr>`)

const hourRows = ({ course }: ScreenReport): Markup[] =>
  course.hours.flatMap((count, hour) => (count === 0 ? [] : [
    html`<tr><td>${String(hour).padStart(2, '0')}:00</td><td class="n">${count}</td></tr>`,
  ]))

const spendPart = ({ course }: ScreenReport): Markup => {
  const { spend } = course
  if (spend === null) return nothing
  const against = (used: string, budget: string | null): string =>
    budget === null ? `${used}; no budget is set` : `${used} of ${budget}`
  const money = against(
    dollarsText(spend.spent_microusd),
    spend.budget_microusd === null ? null : dollarsText(spend.budget_microusd),
  )
  const held = spend.held_microusd === 0 ? nothing : html`<tr><td>held for calls under way or of
unknown charge</td><td class="n">${dollarsText(spend.held_microusd)}</td></tr>`
  const requests = against(
    String(spend.requests), spend.budget_requests === null ? null : String(spend.budget_requests),
  )
  return html`<section aria-labelledby="spend"><h2 id="spend">Spend in 24 hours</h2>
${spendBar(spend)}<table><tbody><tr><td>money</td><td class="n">${money}</td></tr>${held}
<tr><td>requests</td><td class="n">${requests}</td></tr></tbody></table></section>`
}

const measures = (report: ScreenReport): Markup => (report.facts.count === 0
  ? spendPart(report)
  : html`<div class="pair"><section aria-labelledby="mix"><h2 id="mix">Analysis status</h2>
${statusBar(report)}<table><tbody>${statusRows(report)}</tbody></table></section>
<section aria-labelledby="hours"><h2 id="hours">Images by hour</h2>${hourBars(report)}
<details><summary>The hours as a table</summary><table><tbody>${hourRows(report)}</tbody></table>
</details></section>${spendPart(report)}</div>`)

const digestsPart = ({ model_text: model }: ScreenReport, zone: Zone): Markup => {
  if (model.digests.length === 0) return nothing
  const articles = model.digests.map((one) =>
    html`<article><h3>${moment(zone, one.window_start)} to ${zone.at(one.window_end).time},
${countText(one.observation_count, 'screenshot')}</h3><p class="said">${one.text}</p>
${byline(one, zone)}</article>`)
  return html`<section aria-labelledby="digests"><h2 id="digests">Digests</h2>${articles}</section>`
}

const summariesPart = (report: ScreenReport, zone: Zone): Markup => {
  const { model_text: model, course, facts } = report
  if (model.summaries.length === 0) return nothing
  const rows = model.summaries.map((one) => {
    const run = course.runs[one.number - 1]
    const name = facts.observations[one.number - 1]?.filename ?? ''
    return html`<article><h3>${run === undefined ? '' : moment(zone, run.captured_at)},
<bdi>${name}</bdi></h3><p class="said">${one.text}</p>${byline(one, zone)}</article>`
  })
  return html`<section aria-labelledby="summaries"><h2 id="summaries">Summaries</h2>
<p class="note">A language model wrote these from the pictures. They may be wrong.</p>${rows}
</section>`
}

const factsPart = ({ facts }: ScreenReport): Markup => {
  if (facts.count === 0) return nothing
  const rows = facts.observations.map((one, at) => html`<tr><td class="n">${at + 1}</td>
<td class="name"><bdi>${one.filename}</bdi></td><td>${one.format}</td>
<td class="n">${dimensionsText(one.width, one.height)}</td>
<td class="n">${sizeText(one.bytes)}</td></tr>`)
  const more = facts.count - facts.listed
  return html`<section aria-labelledby="files"><h2 id="files">Files</h2>
${more > 0 ? html`<p class="note">${more} earlier ones are counted and not listed.</p>` : nothing}
<div class="wide" tabindex="0"><table><thead><tr><th class="n">#</th><th>name</th><th>format</th>
<th class="n">dimensions</th><th class="n">size</th></tr></thead><tbody>${rows}</tbody></table>
</div></section>`
}

const idList = (title: string, ids: readonly string[]): Markup => (ids.length === 0 ? nothing
  : html`<details><summary>${title}</summary>
<ul class="ids">${ids.map((id) => html`<li><code>${id}</code></li>`)}</ul></details>`)

const ignoredPart = ({ ignored }: ScreenReport['provenance']): Markup => {
  const { areas, observations } = ignored
  const told = observations === 0 ? ''
    : ` ${countText(observations, 'observation')} standing for images that differ in such areas.`
  if (areas.length + observations === 0) return nothing
  return html`<p class="note">Areas that do not count when images are compared:
${areas.length === 0 ? 'none any more' : areas.join(', ')}.${told}</p>`
}

const provenancePart = ({ provenance: from }: ScreenReport): Markup => {
  const left = ([
    [from.excluded.source_missing, 'whose file is missing'],
    [from.excluded.stale_root, 'of an older folder, never analysed'],
    [from.excluded.archived, 'archived'],
    [from.excluded.digests, 'digests that rest on one of these'],
  ] as const).filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  const sources = from.sources.length === 0 ? '' : ` (${from.sources.join(', ')})`
  return html`<section aria-labelledby="provenance"><h2 id="provenance">Where it comes from</h2>
<p>${countText(from.observation_count, 'source observation')}${sources},
${countText(from.digest_count, 'digest')}.</p>
${left.length === 0 ? nothing : html`<p class="note">Left out: ${left.join(', ')}.</p>`}
${ignoredPart(from)}
${idList('Source observations', from.source_observation_ids)}
${idList('Digests', from.digests.map((one) => one.episode_id))}
${idList('Sources of the conclusion', from.conclusion?.source_observation_ids ?? [])}</section>`
}

/** The whole page. */
export const reportPage = (report: ScreenReport): string => {
  const zone = zoneOf(report.period.time_zone)
  const { since, until } = report.period
  const title = `Screenshots, ${moment(zone, since)} to ${moment(zone, until)}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(pageStyle)}</style>
</head>
<body>
<main>
<h1>Screenshots</h1>
<p class="lead">${moment(zone, since)} to ${moment(zone, until)}, ${zone.name}. Made
${moment(zone, report.made_at)}.</p>
${keyFigures(report)}
${conclusionPart(report, zone)}
${coursePart(report, zone)}
${measures(report)}
${digestsPart(report, zone)}
${summariesPart(report, zone)}
${factsPart(report)}
${provenancePart(report)}
<footer>This page holds no picture and loads nothing. Texts with a byline were written by a language
model; everything else was counted.</footer>
</main>
</body>
</html>
`.text
}
