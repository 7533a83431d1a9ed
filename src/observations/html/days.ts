/**
 * The days of a period beside each other on one scale: the longest one is as wide as the page, so
 * that a Tuesday can be compared with a Friday. Each leads to what the page tells of it.
 */
import { daysWithin, pageName, periodNamed, shortDay } from '../periods.js'
import type { ScreenReport } from '../report.js'
import type { TimeSum } from '../sums.js'
import { countText, spanText } from '../words.js'
import type { Zone } from '../zone.js'
import { html, nothing, type Markup } from './markup.js'
import { num } from './pieces.js'
import type { ShownReport } from './shown.js'

const daysMax = 31
/** Names with a colour of their own; the others share one. */
const coloursMax = 5
const unitsWide = 1_000

type Kind = 'project' | 'activity'

const noneTold = 'none told'

/** Projects, where a model named one; else what it named in any case. */
const kindOf = ({ model_text: { time } }: ScreenReport): Kind =>
  (time.project.some(({ name }) => name !== noneTold) ? 'project' : 'activity')

/** Days of the period up to the one on which the report was made, newest ones where many. */
const daysTold = (
  { period, made_at: made, course, model_text: { time } }: ScreenReport, zone: Zone,
): { readonly days: readonly string[]; readonly toCome: number } => {
  if (period.kind === null) {
    const days = new Set([...course.days, ...time.days].map(({ day }) => day))
    return { days: [...days].sort().slice(-daysMax), toCome: 0 }
  }
  const all = daysWithin(periodNamed(period.kind, zone.at(period.since).day))
  const today = zone.at(made).day
  const days = all.filter((day) => day <= today)
  return { days, toCome: all.length - days.length }
}

/** Whether there is more than one day to compare: of a week or month always. */
export const hasDays = (report: ScreenReport, zone: Zone): boolean => {
  const { kind } = report.period
  return kind === null ? daysTold(report, zone).days.length > 1 : kind !== 'day'
}

interface Scale {
  readonly most: number
  readonly kind: Kind
  /** Names that have a colour. */
  readonly names: readonly string[]
}

interface Day {
  readonly day: string
  readonly seconds: number
  readonly sums: readonly TimeSum[]
  readonly images: number
  readonly episodes: number
}

const partsOf = ({ seconds, sums }: Day, { names }: Scale): TimeSum[] => {
  const parts = names.map((name) =>
    ({ name, seconds: sums.find((one) => one.name === name)?.seconds ?? 0 }))
  const told = parts.reduce((sum, one) => sum + one.seconds, 0)
  return [...parts, { name: 'others', seconds: seconds - told }]
}

const short = (name: string): string => {
  const chars = [...name]
  return chars.length <= 40 ? name : `${chars.slice(0, 40).join('')}…`
}

const bar = (one: Day, scale: Scale): Markup => {
  const parts = partsOf(one, scale)
  let x = 0
  const rects = parts.map(({ seconds }, at) => {
    const from = x
    const width = (seconds / scale.most) * unitsWide
    x += width
    return seconds === 0 ? nothing : html`<rect class="p-${at}" x="${from.toFixed(1)}" y="0"
 width="${width.toFixed(1)}" height="10"/>`
  })
  const told = parts.filter(({ seconds }) => seconds > 0)
    .map(({ name, seconds }) => `${short(name)} ${spanText(seconds * 1_000)}`)
  return html`<svg viewBox="0 0 ${unitsWide} 10" preserveAspectRatio="none" role="img"
 aria-labelledby="bar-${one.day}"><title id="bar-${one.day}">${told.join(', ') || 'no time'}</title>
<rect class="track" x="0" y="0" width="${unitsWide}" height="10"/>${rects}</svg>`
}

/** Where a day is told: in the timeline, in the episodes, on a page of its own. */
export interface DayPlaces {
  readonly timeline: ReadonlySet<string>
  readonly episodes: ReadonlyMap<string, number>
}

const row = (one: Day, scale: Scale, report: ShownReport, places: DayPlaces): Markup => {
  const { day, seconds, images, episodes } = one
  const name = html`<b>${shortDay(day)}</b>`
  const file = pageName(periodNamed('day', day))
  const page = report.pages?.has(file) === true
    ? html`, <a href="./${file}">its page</a>` : nothing
  const said = episodes === 0 ? nothing
    : html`, <a href="#episodes-${day}">${countText(episodes, 'episode')}</a>`
  return html`<li>${places.timeline.has(day) ? html`<a href="#day-${day}">${name}</a>` : name}
<div>${bar(one, scale)}<small>${num(spanText(seconds * 1_000))} told, ${
    num(countText(images, 'image'))}${said}${page}</small></div></li>`
}

const key = (scale: Scale, days: readonly Day[]): Markup => {
  const { names } = scale
  const others = days.some((one) => (partsOf(one, scale).at(-1)?.seconds ?? 0) > 0)
  const entries = names.map((name, at) =>
    html`<li><i class="p-${at}"></i><bdi>${short(name)}</bdi></li>`)
  return html`<ul class="key">${entries}${others
    ? html`<li><i class="p-${names.length}"></i>others</li>` : nothing}</ul>`
}

/** Days side by side; nothing for a single one. */
export const daysPart = (report: ShownReport, zone: Zone, places: DayPlaces): Markup => {
  const { model_text: { time }, course } = report
  if (!hasDays(report, zone)) return nothing
  const { days, toCome } = daysTold(report, zone)
  const kind = kindOf(report)
  const told = days.map((day): Day => {
    const of = time.days.find((one) => one.day === day)
    return {
      day, seconds: of?.seconds ?? 0, sums: of?.[kind] ?? [],
      images: course.days.find((one) => one.day === day)?.image_count ?? 0,
      episodes: places.episodes.get(day) ?? 0,
    }
  })
  const most = Math.max(1, ...told.map(({ seconds }) => seconds))
  const scale = { most, kind, names: time[kind].slice(0, coloursMax).map(({ name }) => name) }
  const behind = toCome === 0 ? nothing
    : html`<p class="note">${countText(toCome, 'day')} of it ${toCome === 1 ? 'is' : 'are'} still to
come.</p>`
  return html`<section aria-labelledby="days"><h2 id="days">Days</h2>
<p class="soft">By ${kind}, <b>written by the model</b>. All days share one scale: a whole bar is
${num(spanText(most * 1_000))}.</p><ul class="days">${told.map((one) =>
    row(one, scale, report, places))}</ul>${key(scale, told)}${behind}</section>`
}
