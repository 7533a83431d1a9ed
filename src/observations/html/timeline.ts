/**
 * The timeline: for each day its hours as an axis, and on them the screens as long as they stood
 * and the episodes beside them; apart from it, among what the program did, the money by the hour.
 * Inline SVG stretched to the width there is, so every text stands beside the drawings as text and
 * stays readable on a phone. What they show is told in words: the longest runs, the episodes, and
 * every screen in the table.
 */
import { longestOf, msBetween } from '../longest.js'
import type { ReportRun, ScreenReport } from '../report.js'
import { countText, spanText, statusText } from '../words.js'
import { daysOf, longDay, type Zone } from '../zone.js'
import { axisLabels, clock, statusClass, type Span } from './axis.js'
import { listBytes, newestWithin } from './bounded.js'
import {
  drawnHours, lanesOf, rarestLast, spendMostOf, withoutPiles, type Bar, type DayLanes,
} from './lanes.js'
import { html, nothing, type Markup } from './markup.js'
import { dollars, moment, momentNear, num } from './pieces.js'

/** The drawing's width in its own units; a moment is drawn too, as wide as a finger-nail's edge. */
const unitsWide = 1_000
const unitsLeast = 5
/** Between neighbours, so that each is seen. */
const unitsGap = 1.5
const laneHeight = 24

/** A length of a drawing: there may be thousands. */
const short = (units: number): number => Math.round(units * 10) / 10

const barMarkup = (bar: Bar, hours: Span): Markup => {
  const perMinute = unitsWide / ((hours.to - hours.from) * 60)
  const x = (bar.from - hours.from * 60) * perMinute
  const width = Math.max((bar.to - bar.from) * perMinute - unitsGap, unitsLeast)
  const height = Math.max(1, bar.height * laneHeight)
  return html`<rect class="${bar.className}" x="${short(x)}" y="${short(laneHeight - height)}"
 width="${short(width)}" height="${short(height)}"><title>${bar.title}</title></rect>`
}

const gridLines = (hours: Span): Markup[] =>
  Array.from({ length: hours.to - hours.from + 1 }, (_, at) => {
    const x = ((at / (hours.to - hours.from)) * unitsWide).toFixed(1)
    return html`<line class="grid" x1="${x}" x2="${x}" y1="0" y2="${laneHeight}"/>`
  })

interface Lane {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly told: string
  readonly bars: readonly Bar[]
}

const laneMarkup = (
  { id, name, title, told, bars }: Lane, hours: Span, drawn: readonly Markup[],
): Markup => {
  if (bars.length === 0) return nothing
  return html`<div class="lane"><div class="name" aria-hidden="true">${name}</div>
<svg viewBox="0 0 ${unitsWide} ${laneHeight}" preserveAspectRatio="none" role="img"
 aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title>
<desc id="${id}-d">${told}</desc>
<rect class="track" x="0" y="0" width="${unitsWide}" height="${laneHeight}"/>${gridLines(hours)}
${drawn}</svg></div>`
}

const screensTold = (bars: readonly Bar[]): string =>
  `${countText(bars.length, 'screen')}, each as long as it stood. The table of screenshots tells `
  + 'each.'

const screenLanes = (lanes: DayLanes, id: string, day: string): Lane[] => [
  {
    id: `${id}e`, name: 'Episodes', title: `Episodes of ${day}`,
    told: `${countText(lanes.episodes.length, 'window')} with a digest.`, bars: lanes.episodes,
  },
  {
    id: `${id}a`, name: 'Analysed', title: `Analysed screens of ${day}`,
    told: screensTold(lanes.analysed), bars: lanes.analysed,
  },
  {
    id: `${id}o`, name: 'Unfinished', title: `Screens of ${day} whose analysis is not finished`,
    told: screensTold(lanes.open), bars: lanes.open,
  },
]

const spendLane = (lanes: DayLanes, id: string, day: string): Lane[] => [{
  id: `${id}s`, name: 'Spend', title: `Spend by the hour on ${day}`,
  told: lanes.spend.map(({ title }) => title).join('; '), bars: lanes.spend,
}]

/** A drawing of days: which lanes it has, and what it may take. */
interface Drawing {
  lanesOf(lanes: DayLanes, id: string, day: string): Lane[]
  readonly bytes: number
  /** Before the ids in it. */
  readonly prefix: string
  /** Whether a day's heading is where links to the day lead. */
  readonly isTarget: boolean
  readonly tellsSpend: boolean
}

const screens: Drawing = {
  lanesOf: screenLanes, bytes: listBytes.bars, prefix: 'd', isTarget: true, tellsSpend: false,
}
const money: Drawing = {
  lanesOf: spendLane, bytes: listBytes.spend, prefix: 'm', isTarget: false, tellsSpend: true,
}

interface Day {
  readonly day: string
  readonly lanes: DayLanes
}

/** What all days of a report share, so that they can be compared. */
interface Scale {
  readonly hours: Span
  /** What the highest bar of money stands for, micro-USD. */
  readonly spendMost: number
}

const barsOf = ({ lanes }: Day): readonly Bar[] =>
  [...lanes.episodes, ...lanes.analysed, ...lanes.open, ...lanes.spend]

/** One day as it is drawn; it says how many bars did not fit. */
const dayFigure = (
  { day, lanes }: Day, { hours, spendMost }: Scale, id: string, drawing: Drawing,
): Markup => {
  const least = unitsLeast * ((hours.to - hours.from) * 60) / unitsWide
  let [left, bytes] = [0, 0]
  const drawn = drawing.lanesOf(lanes, id, longDay(day)).map((lane) => {
    const bars = rarestLast(withoutPiles(lane.bars, least))
    const fitting = newestWithin(bars.length, drawing.bytes - bytes, (at) =>
      barMarkup(bars[at] as Bar, hours))
    left += fitting.left
    bytes += fitting.parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    return laneMarkup(lane, hours, fitting.parts)
  })
  const cut = left === 0 ? nothing
    : html`<p class="note">${num(left)} more bars of this day lie too close to be drawn.</p>`
  const scale = !drawing.tellsSpend ? nothing
    : html`, <span>spend up to ${dollars(spendMost)} an hour</span>`
  const head = drawing.isTarget ? html`<h3 id="day-${day}">` : html`<h3>`
  return html`<figure class="day">${head}${longDay(day)}
<small>${num(`${clock(hours.from)} to ${clock(hours.to)}`)}${scale}</small></h3>
${drawn}<div class="lane hours"><div class="name"></div>${axisLabels(hours)}</div>${cut}</figure>`
}

const daysDrawnMax = 31

/** Colours in use, with their words and counts. */
const statusKey = ({ course, model_text: model }: ScreenReport): Markup => {
  const entries = Object.entries(course.statuses).sort(([, a], [, b]) => b - a)
  const digests = model.digests.length === 0
    ? nothing : html`<li><i class="s-digest"></i>episode ${num(model.digests.length)}</li>`
  return html`<ul class="key">${entries.map(([status, count]) =>
    html`<li><i class="${statusClass(status)}"></i>${statusText(status)} ${num(count)}</li>`)}
${digests}</ul>`
}

const stoodMs = ({ captured_at: from, last_seen_at: to }: ReportRun): number =>
  msBetween(from, to)

const longestPart = (report: ScreenReport, zone: Zone): Markup => {
  const { runs } = report.course
  const longest = longestOf(runs, stoodMs)
  if (longest.length === 0) return nothing
  const items = longest.map((run) => {
    const name = report.facts.observations[runs.indexOf(run)]?.filename ?? ''
    const until = momentNear(zone, run.last_seen_at, run.captured_at)
    const stood = spanText(stoodMs(run))
    return html`<li><b class="num">${stood}</b><span><bdi class="file">${name}</bdi>
<small>${num(moment(zone, run.captured_at))} to ${num(until)},
${statusText(run.status)}</small></span></li>`
  })
  return html`<section aria-labelledby="longest"><h2 id="longest">Longest on the screen</h2>
<ol class="longest">${items}</ol></section>`
}

/** The newest days that fit, oldest first; the newest is there in any case. */
const daysDrawn = (
  report: ScreenReport, zone: Zone, days: readonly string[], drawing: Drawing,
): { readonly day: string; readonly figure: Markup }[] => {
  const newest = days.slice(-daysDrawnMax)
  const spendMost = spendMostOf(report, zone, new Set(newest))
  const all = newest.map((day) => ({ day, lanes: lanesOf(report, zone, day, spendMost) }))
  // Both drawings have one axis, so that hours of one lie below those of the other.
  const scale = { hours: drawnHours(all.flatMap(barsOf)), spendMost }
  const figures: { day: string; figure: Markup }[] = []
  let bytes = 0
  const drawable = all.filter(({ day, lanes }) =>
    drawing.lanesOf(lanes, '', day).some(({ bars }) => bars.length > 0))
  for (const [at, one] of drawable.reverse().entries()) {
    const figure = dayFigure(one, scale, `${drawing.prefix}${at}`, drawing)
    bytes += Buffer.byteLength(figure.text)
    if (figures.length > 0 && bytes > drawing.bytes) break
    figures.push({ day: one.day, figure })
  }
  return figures.reverse()
}

const cutNote = (drawn: number, all: number): Markup => (all <= drawn ? nothing
  : html`<p class="note">The newest ${num(drawn)} of ${num(all)} days are drawn.</p>`)

/** A part of the page, and the days that it draws. */
interface Drawn {
  readonly part: Markup
  readonly days: ReadonlySet<string>
}

/** One figure for each day with a screen, newest days where there are too many. */
export const timelinePart = (report: ScreenReport, zone: Zone): Drawn => {
  if (report.facts.count === 0) return { part: nothing, days: new Set() }
  const days = [...new Set(report.course.runs.flatMap((run) =>
    daysOf(zone, run.captured_at, run.last_seen_at)))].sort()
  const figures = daysDrawn(report, zone, days, screens)
  const more = report.facts.count > report.facts.listed
    ? html`<p class="note">Listed are ${num(report.facts.listed)} of ${num(report.facts.count)}
screens: the newest, and those whose summary is told or that stood longest. All of them are
counted.</p>` : nothing
  return {
    days: new Set(figures.map(({ day }) => day)),
    part: html`<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
${figures.map(({ figure }) => figure)}
${statusKey(report)}${cutNote(figures.length, days.length)}${more}</section>
${longestPart(report, zone)}`,
  }
}

/** Money by the hour, day by day; nothing where none was spent. */
export const spendHoursPart = (report: ScreenReport, zone: Zone): Markup => {
  const days = [...new Set(report.course.spend_hours.map((one) => zone.at(one.at).day))].sort()
  const figures = daysDrawn(report, zone, days, money)
  const known = report.course.spend_known_since
  const forgotten = known === null ? nothing
    : html`<p class="note">What was claimed before ${moment(zone, known)} is not counted any
more.</p>`
  return figures.length === 0 && known === null ? nothing
    : html`<section aria-labelledby="spent"><h2 id="spent">Spend by the hour</h2>
${figures.map(({ figure }) => figure)}${cutNote(figures.length, days.length)}${forgotten}</section>`
}
