/**
 * Drawings of a report: inline SVG stretched to the width there is, so every text stands beside
 * them as text and stays readable on a phone. Each has a title, a description and a table elsewhere
 * on the page that says the same.
 */
import type { ScreenReport } from '../report.js'
import { countText, dollarsText, spanText, statusText } from '../words.js'
import { daysOf, longDay, type Zone } from '../zone.js'
import { html, nothing, type Markup } from './markup.js'

const knownStatuses = new Set(['succeeded', 'pending', 'blocked', 'failed', 'needs_reanalysis'])

/** Class of a status's colour. */
const statusClass = (status: string): string =>
  `s-${knownStatuses.has(status) ? status : 'other'}`

const minutesOfDay = 1_440

/** A span on one day, minutes since midnight. */
interface Span {
  readonly from: number
  readonly to: number
}

const spanOn = (zone: Zone, day: string, from: string, to: string): Span | null => {
  const [a, b] = [zone.at(from), zone.at(to)]
  if (a.day > day || b.day < day) return null
  return {
    from: a.day === day ? a.minute : 0,
    to: b.day === day ? b.minute : minutesOfDay,
  }
}

interface Bar extends Span {
  readonly className: string
  readonly title: string
  readonly lane: 'digest' | 'screen'
}

const runBars = (report: ScreenReport, zone: Zone, day: string): Bar[] =>
  report.course.runs.flatMap((run, at) => {
    const span = spanOn(zone, day, run.captured_at, run.last_seen_at)
    if (span === null) return []
    const name = report.facts.observations[at]?.filename ?? ''
    const stood = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
    const how = stood > 0
      ? `, stood ${spanText(stood)}, ${countText(run.like_images, 'like image')}` : ''
    return [{
      ...span, lane: 'screen' as const, className: statusClass(run.status),
      title: `${zone.at(run.captured_at).time} ${name}: ${statusText(run.status)}${how}`,
    }]
  })

const digestBars = (report: ScreenReport, zone: Zone, day: string): Bar[] =>
  report.model_text.digests.flatMap((one) => {
    const span = spanOn(zone, day, one.window_start, one.window_end)
    return span === null ? [] : [{
      ...span, lane: 'digest' as const, className: 'digest',
      title: `Digest of ${zone.at(one.window_start).time} to ${zone.at(one.window_end).time}, `
        + countText(one.observation_count, 'screenshot'),
    }]
  })

/** The hours that are drawn: those with something in them, at least six, whole ones. */
const drawnHours = (bars: readonly Bar[]): Span => {
  const first = Math.floor(Math.min(...bars.map(({ from }) => from)) / 60)
  const last = Math.ceil((Math.max(...bars.map(({ to }) => to)) + 1) / 60)
  const missing = Math.max(0, 6 - (last - first))
  const latest = 24 - Math.max(6, last - first)
  const from = Math.max(0, Math.min(first - Math.floor(missing / 2), latest))
  return { from, to: Math.min(24, Math.max(last, from + 6)) }
}

const laneY = { digest: [6, 18], screen: [36, 58] } as const

const barMarkup = (bar: Bar, hours: Span): Markup => {
  const perMinute = 1_000 / ((hours.to - hours.from) * 60)
  const x = (bar.from - hours.from * 60) * perMinute
  // A moment is drawn, too: one pixel of a narrow screen at least.
  const width = Math.max((bar.to - bar.from) * perMinute, 3.5)
  const [y, height] = laneY[bar.lane]
  return html`<rect class="${bar.className}" x="${x.toFixed(2)}" y="${y}"
    width="${width.toFixed(2)}" height="${height}"><title>${bar.title}</title></rect>`
}

/** Rarer ones are drawn after commoner ones, so that nothing that is rare lies covered. */
const rarestLast = (bars: readonly Bar[]): Bar[] => {
  const counts = new Map<string, number>()
  for (const { className } of bars) counts.set(className, (counts.get(className) ?? 0) + 1)
  const often = ({ className }: Bar): number => counts.get(className) ?? 0
  return [...bars].sort((a, b) => often(b) - often(a))
}

const gridLines = (hours: Span): Markup[] =>
  Array.from({ length: hours.to - hours.from + 1 }, (_, at) => {
    const x = ((at / (hours.to - hours.from)) * 1_000).toFixed(2)
    return html`<line class="grid" x1="${x}" x2="${x}" y1="0" y2="100"/>`
  })

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/** Labels that fit: at most nine on a wide page, of which a phone shows every other one. */
const axisLabels = (hours: Span): Markup => {
  const span = hours.to - hours.from
  const step = [1, 2, 3, 4, 6].find((one) => span % one === 0 && span / one <= 8) ?? span
  const last = span / step
  const labels = Array.from({ length: last + 1 }, (_, at) => {
    const minor = at % 2 === 1 && last > 4 ? ' minor' : ''
    const edge = at === 0 ? ' first' : at === last ? ' last' : ''
    return html`<span class="hour${minor}${edge}" style="left:${((at / last) * 100).toFixed(2)}%"
>${clock(hours.from + at * step)}</span>`
  })
  return html`<div class="axis" aria-hidden="true">${labels}</div>`
}

/** A lane's name; where it lies is said on a narrow page, which has no room beside the lanes. */
const laneName = (name: string, where: string): Markup =>
  html`${name}<span class="above">, ${where}</span>`

const dayFigure = (report: ScreenReport, zone: Zone, day: string, at: number): Markup => {
  const digests = digestBars(report, zone, day)
  const bars = [...digests, ...runBars(report, zone, day)]
  if (bars.length === 0) return nothing
  const hours = drawnHours(bars)
  const screens = bars.length - digests.length
  const both = digests.length > 0
  const id = `day-${at}`
  return html`<figure class="day"><h3>${longDay(day)}</h3><div class="lanes">
<div class="names" aria-hidden="true"><span>${both ? laneName('Digests', 'above') : ''}</span>
<span>${both ? laneName('Screens', 'below') : 'Screens'}</span></div>
<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"
  aria-labelledby="${id}-t ${id}-d">
<title id="${id}-t">Course of ${longDay(day)}</title>
<desc id="${id}-d">${countText(screens, 'screen')} between ${clock(hours.from)} and
${clock(hours.to)}, each as long as it stood, and ${countText(digests.length, 'digest')}. The table
of the course says the same.</desc>
<rect class="track" x="0" y="36" width="1000" height="58"/>${gridLines(hours)}
${rarestLast(bars).map((bar) => barMarkup(bar, hours))}</svg>${axisLabels(hours)}</div></figure>`
}

const daysDrawnMax = 31

/** One strip for each day that has something, newest days where there are too many. */
export const timeline = (report: ScreenReport, zone: Zone): Markup => {
  const days = [...new Set(report.course.runs.flatMap((run) =>
    daysOf(zone, run.captured_at, run.last_seen_at)))].sort()
  return html`${days.slice(-daysDrawnMax).map((day, at) => dayFigure(report, zone, day, at))}`
}

/** Colours in use, with their words and counts. */
export const statusKey = ({ course, model_text: model }: ScreenReport): Markup => {
  const entries = Object.entries(course.statuses).sort(([, a], [, b]) => b - a)
  const digests = model.digests.length === 0
    ? nothing : html`<li><i class="s-digest"></i>digest, ${model.digests.length}</li>`
  return html`<ul class="key">${entries.map(([status, count]) =>
    html`<li><i class="${statusClass(status)}"></i>${statusText(status)}, ${count}</li>`)}
${digests}</ul>`
}

/** Parts of a whole as one bar. */
const stacked = (
  id: string, title: string, parts: readonly { className: string; share: number; text: string }[],
): Markup => {
  let x = 0
  const rects = parts.map(({ className, share, text }) => {
    const at = x
    x += share * 1_000
    return html`<rect class="${className}" x="${at.toFixed(2)}" y="0"
      width="${(share * 1_000).toFixed(2)}" height="10"><title>${text}</title></rect>`
  })
  return html`<figure class="bar"><svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img"
  aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title>
<desc id="${id}-d">${parts.map(({ text }) => text).join(', ')}.</desc>
<rect class="track" x="0" y="0" width="1000" height="10"/>${rects}</svg></figure>`
}

/** How the observations stand. */
export const statusBar = ({ course, facts }: ScreenReport): Markup =>
  stacked('mix', 'Analysis status', Object.entries(course.statuses)
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => ({
      className: statusClass(status), share: count / Math.max(1, facts.count),
      text: `${statusText(status)} ${count}`,
    })))

/** Images by hour of the day. */
export const hourBars = ({ course }: ScreenReport): Markup => {
  const most = Math.max(1, ...course.hours)
  const rects = course.hours.map((count, hour) => {
    const height = (count / most) * 96
    const title = `${clock(hour)}, ${countText(count, 'image')}`
    return html`<rect class="track" x="${hour * 10 + 1}" y="0" width="8" height="100"/>
<rect class="count" x="${hour * 10 + 1}" y="${(100 - height).toFixed(2)}" width="8"
  height="${height.toFixed(2)}"><title>${title}</title></rect>`
  })
  const busiest = course.hours.indexOf(most)
  const desc = busiest < 0 ? 'No image.'
    : `Most, ${countText(most, 'image')}, from ${clock(busiest)}. The table below says the same.`
  return html`<figure class="hours"><svg viewBox="0 0 240 100" preserveAspectRatio="none"
  role="img" aria-labelledby="hours-t hours-d"><title id="hours-t">Images by hour</title>
<desc id="hours-d">${desc}</desc>${rects}</svg>${axisLabels({ from: 0, to: 24 })}</figure>`
}

/** Money spent and held against the budget. */
export const spendBar = (spend: NonNullable<ScreenReport['course']['spend']>): Markup => {
  const { budget_microusd: budget, spent_microusd: spent, held_microusd: held } = spend
  if (budget === null || budget === 0) return nothing
  const whole = Math.max(budget, spent + held)
  return stacked('spend', `Spend of the day against ${dollarsText(budget)}`, [
    { className: 'spent', share: spent / whole, text: `spent ${dollarsText(spent)}` },
    { className: 'held', share: held / whole, text: `held ${dollarsText(held)}` },
  ])
}
