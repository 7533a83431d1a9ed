/**
 * A report as one self-contained page: no script, nothing loaded, no picture of a screen. A policy
 * in its head forbids everything but its own style, so even markup that slipped through an escape
 * could load and run nothing. Its links lead to parts of itself.
 */
import { moneyStand } from '../budget.js'
import type { ScreenReport } from '../report.js'
import { countText, dollarsText } from '../words.js'
import { longDay, zoneOf, type Zone } from '../zone.js'
import { hourBars } from './bars.js'
import { clock } from './axis.js'
import { html, Markup, nothing } from './markup.js'
import { alertMark, moment, num } from './pieces.js'
import { provenancePart } from './provenance.js'
import { screensPart } from './screens.js'
import { spendPart } from './spend.js'
import { plainWriting, type PageWriting, type ShownReport } from './shown.js'
import { statusPart, waitingCount, waitingPart } from './standing.js'
import { pageStyle } from './style.js'
import {
  authorsOf, authorsPart, conclusionPart, digestEntries, digestsPart, summariesPart,
} from './texts.js'
import { timePart } from './time.js'
import { besideTimeline, timelinePart } from './timeline.js'

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
${tile(course.statuses['succeeded'] ?? 0, 'analysed')}
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

const nav = (report: ShownReport): Markup => {
  const { facts, course, model_text: model } = report
  const waiting = waitingCount(report)
  const links = ([
    ['time', 'What was done', model.time.observation_count > 0],
    ['timeline', 'Timeline', true],
    ['waits', waiting === 0 ? 'Waits' : `Waits: ${waiting}`, true],
    ['conclusion', 'Conclusion', model.conclusion !== null],
    ['digests', 'Digests', model.digests.length > 0],
    ['summaries', 'Summaries', model.summaries.length > 0],
    ['mix', 'Status', facts.count > 0],
    ['hours', 'Hours', facts.count > 0],
    ['spend', 'Spend', course.spend !== null],
    ['screens', 'Screenshots', facts.count > 0],
    ['provenance', 'Sources', true],
  ] as const).filter(([, , isThere]) => isThere)
  return html`<nav aria-label="Parts of this page"><ul>${links.map(([id, name]) =>
    html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>`
}

/** The day where the period lies in one, which is what most reports are about. */
const headingOf = ({ period }: ScreenReport, zone: Zone): string => {
  const { day } = zone.at(period.since)
  const last = zone.at(new Date(Date.parse(period.until) - 1).toISOString()).day
  return day === last ? `Screenshots of ${longDay(day)}` : 'Screenshots'
}

const mainPart = (report: ShownReport, zone: Zone): Markup => {
  const { since, until } = report.period
  const authors = authorsOf(report)
  const digests = digestEntries(report, zone, authors)
  return html`<main>
<h1>${headingOf(report, zone)}</h1>
<p class="lead">${num(moment(zone, since))} to ${num(moment(zone, until))}, ${zone.name}. Made
${num(moment(zone, report.made_at))}.</p>
${nav(report)}
${timePart(report)}
${timelinePart(report, zone)}
${waitingPart(report)}
${tiles(report)}
${besideTimeline(report, zone, digests.left)}
${measures(report)}
${authorsPart(authors)}
${conclusionPart(report, zone, authors)}
${digestsPart(report, digests, authors)}
${summariesPart(report, zone, authors)}
${screensPart(report, zone)}
${provenancePart(report)}
<footer>This page holds no picture and loads nothing.
${countText(report.facts.count, 'observation')} ${report.facts.count === 1 ? 'was' : 'were'}
counted.</footer>
</main>`
}

/** The whole page. */
export const reportPage = (
  shown: ScreenReport, writing: PageWriting = plainWriting,
): string => {
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
