/**
 * A report as one self-contained page: no script, nothing loaded, no picture of a screen. A policy
 * in its head forbids everything but its own style, so even markup that slipped through an escape
 * could load and run nothing. Its links lead to parts of itself, and to pages of other periods that
 * lie beside it. First stands what the person did, then what waits, then, folded, what the program
 * did and spent; on paper that is unfolded, and lists that are long stay folded.
 */
import { moneyStand } from '../budget.js'
import type { ScreenReport } from '../report.js'
import { countText, dollarsText } from '../words.js'
import { periodTitle } from '../periods.js'
import { longDay, zoneOf, type Zone } from '../zone.js'
import { hourBars } from './bars.js'
import { clock } from './axis.js'
import { daysPart, hasDays } from './days.js'
import { html, Markup, nothing } from './markup.js'
import { calendarOf, nearPart } from './near.js'
import { alertMark, moment, num } from './pieces.js'
import { provenancePart } from './provenance.js'
import { screensPart } from './screens.js'
import { spendPart } from './spend.js'
import { plainWriting, type PageWriting, type ShownReport } from './shown.js'
import { statusPart, waitingCount, waitingPart } from './standing.js'
import { pageStyle } from './style.js'
import { authorsOf, authorsPart, conclusionPart, episodesPart, summariesPart } from './texts.js'
import { timePart } from './time.js'
import { spendHoursPart, timelinePart } from './timeline.js'

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Longer values get a wide tile. */
const shortMax = 6

/** One tile; the size of its text follows the length of the value, which never breaks. */
const tile = (value: string | number, text: string, state = ''): Markup => {
  const chars = String(value).length
  const wide = chars > shortMax ? 'wide-tile ' : ''
  return html`<li class="${wide}${state}" style="--chars:${chars}"><b class="num">${value}</b>
<span>${state === 'over' ? alertMark : nothing}${text}</span></li>`
}

const spendTile = ({ course: { spend } }: ScreenReport): Markup => {
  if (spend === null) return nothing
  const { state } = moneyStand(spend)
  const words = state === 'over' ? 'spent in 24 hours, over the budget'
    : state === 'near' ? 'spent in 24 hours, near the budget' : 'spent in 24 hours'
  return tile(dollarsText(spend.spent_microusd), words, state === 'over' ? 'over' : '')
}

const tiles = (report: ScreenReport): Markup => {
  const { facts, course, model_text: model } = report
  const counted = (status: string, word: string): Markup => {
    const count = course.statuses[status] ?? 0
    return count === 0 ? nothing : tile(count, word)
  }
  const { like_runs: runs } = course
  return html`<ul class="figures">
${tile(course.image_count, course.image_count === 1 ? 'image' : 'images')}
${tile(facts.count, facts.count === 1 ? 'observation' : 'observations')}
${tile(runs, runs === 1 ? 'run of like images' : 'runs of like images')}
${tile(model.summary_count, 'analysed')}
${counted('failed', 'failed')}${counted('blocked', 'blocked')}
${tile(model.digests.length, model.digests.length === 1 ? 'digest' : 'digests')}
${spendTile(report)}</ul>`
}

const hoursPart = (report: ScreenReport): Markup => {
  const rows = report.course.hours.flatMap((count, hour) => (count === 0 ? []
    : [html`<tr><th scope="row">${num(clock(hour))}</th><td class="v">${num(count)}</td></tr>`]))
  return html`<section aria-labelledby="hours"><h2 id="hours">Images by hour</h2>
${hourBars(report)}<details><summary>The hours as a table</summary><table><tbody>${rows}</tbody>
</table></details></section>`
}

const measures = (report: ShownReport): Markup => (report.facts.count === 0
  ? spendPart(report)
  : html`<div class="pair">${statusPart(report)}${hoursPart(report)}${spendPart(report)}</div>`)

/** What the program did and spent: folded, with its sums in the line that unfolds it. */
const programPart = (report: ShownReport, zone: Zone): Markup => {
  const { facts, course: { image_count: images, spend } } = report
  const spent = spend === null ? nothing
    : html`, ${num(dollarsText(spend.spent_microusd))} spent in 24 hours`
  return html`<details class="program"><summary><h2 id="program">What the program did and spent</h2>
<small>${num(countText(images, 'image'))}, ${num(countText(facts.count, 'observation'))}${spent}
</small></summary>
${tiles(report)}
${measures(report)}
${spendHoursPart(report, zone)}
${screensPart(report, zone)}
${provenancePart(report)}</details>`
}

const nav = (report: ShownReport, zone: Zone): Markup => {
  const { facts, model_text: model } = report
  const waiting = waitingCount(report)
  const links = ([
    ['time', 'What was done', true],
    ['days', 'Days', hasDays(report, zone)],
    ['conclusion', 'Conclusion', model.conclusion !== null],
    ['episodes', 'Episodes', model.digests.length > 0],
    ['summaries', 'Each screen', model.summaries.length > 0],
    ['timeline', 'Timeline', facts.count > 0],
    ['waits', waiting === 0 ? 'Waits' : `Waits: ${waiting}`, true],
    ['program', 'The program', true],
  ] as const).filter(([, , isThere]) => isThere)
  return html`<nav aria-label="Parts of this page"><ul>${links.map(([id, name]) =>
    html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>`
}

/** The day, week or month where the period is one, which is what most reports are about. */
const headingOf = (report: ShownReport, zone: Zone): string => {
  const calendar = calendarOf(report, zone)
  if (calendar !== null) return `Screenshots of ${periodTitle(calendar)}`
  const { period } = report
  const { day } = zone.at(period.since)
  const last = zone.at(new Date(Date.parse(period.until) - 1).toISOString()).day
  return day === last ? `Screenshots of ${longDay(day)}` : 'Screenshots'
}

const mainPart = (report: ShownReport, zone: Zone): Markup => {
  const { since, until } = report.period
  const authors = authorsOf(report)
  const episodes = episodesPart(report, zone, authors)
  const timeline = timelinePart(report, zone)
  const days = { timeline: timeline.days, episodes: episodes.byDay }
  return html`<main>
<h1>${headingOf(report, zone)}</h1>
<p class="lead">${num(moment(zone, since))} to ${num(moment(zone, until))}, ${zone.name}. Made
${num(moment(zone, report.made_at))}.</p>
${nearPart(report, zone)}
${nav(report, zone)}
${timePart(report)}
${daysPart(report, zone, days)}
${authorsPart(authors)}
${conclusionPart(report, zone, authors)}
${episodes.part}
${summariesPart(report, zone, authors)}
${timeline.part}
${waitingPart(report)}
${programPart(report, zone)}
<footer>This page holds no picture and loads nothing.
${countText(report.facts.count, 'observation')} ${report.facts.count === 1 ? 'was' : 'were'}
counted.</footer>
</main>`
}

export const reportPage = (shown: ScreenReport, writing: PageWriting = plainWriting): string => {
  const report = { ...shown, ...writing }
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
${mainPart(report, zone)}
</body>
</html>
`.text
}
