/**
 * What lies on the hours of one day: runs of like screenshots, those that were analysed apart from
 * those that were not, the windows of digests, and money by the hour. No markup.
 */
import type { ScreenReport } from '../report.js'
import { countText, dollarsText, spanText, statusText } from '../words.js'
import type { Zone } from '../zone.js'
import { statusClass, type Span } from './axis.js'

/** One bar of a lane. */
export interface Bar extends Span {
  readonly className: string
  readonly title: string
  /** Of the lane's height, 0 to 1. */
  readonly height: number
}

/** The bars of one day. */
export interface DayLanes {
  readonly episodes: readonly Bar[]
  readonly analysed: readonly Bar[]
  readonly open: readonly Bar[]
  readonly spend: readonly Bar[]
}

const minutesOfDay = 1_440
const hourMs = 3_600_000
/** Characters of a name that a bar's title has; the table has all of them. */
const nameMax = 32
/** With more screens than this, titles have no names. */
const namedMax = 400

const minuteMs = 60_000

const spanOn = (zone: Zone, day: string, from: string, to: string): Span | null => {
  const [a, b] = [zone.at(from), zone.at(to)]
  if (a.day > day || b.day < day) return null
  const begin = a.day === day ? a.minute : 0
  const end = b.day === day ? b.minute : minutesOfDay
  const minutes = Math.floor((Date.parse(to) - Date.parse(from)) / minuteMs)
  // Across an hour that comes twice the clock ends before it began, or as it began.
  return { from: begin, to: end > begin || minutes <= 0 || a.day !== b.day
    ? end : Math.min(minutesOfDay, begin + minutes) }
}

/** Statuses of screens that have an analysis which stands. */
const analysed: ReadonlySet<string> = new Set(['succeeded', 'needs_reanalysis'])

const shortName = (name: string): string => {
  const chars = [...name]
  return chars.length <= nameMax ? name : `${chars.slice(0, nameMax).join('')}…`
}

interface RunBar extends Bar { readonly status: string }

const runBars = (report: ScreenReport, zone: Zone, day: string): RunBar[] => {
  const named = report.course.runs.length <= namedMax
  return report.course.runs.flatMap((run, at): RunBar[] => {
    const span = spanOn(zone, day, run.captured_at, run.last_seen_at)
    if (span === null) return []
    const stood = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
    const seen = zone.at(run.captured_at).time
    const when = stood > 0
      ? `${seen} to ${zone.at(run.last_seen_at).time}, ${spanText(stood)}` : seen
    const name = named ? `, ${shortName(report.facts.observations[at]?.filename ?? '')}` : ''
    return [{
      ...span, className: statusClass(run.status), height: 1, status: run.status,
      title: `${when}, ${statusText(run.status)}${name}`,
    }]
  })
}

const episodeBars = (report: ScreenReport, zone: Zone, day: string): Bar[] =>
  report.model_text.digests.flatMap((one): Bar[] => {
    // A window that ends at midnight is not of the day that begins then.
    const end = new Date(Date.parse(one.window_end) - 1).toISOString()
    const span = spanOn(zone, day, one.window_start, end)
    return span === null ? [] : [{
      from: span.from, to: Math.min(minutesOfDay, span.to + 1), className: 'digest', height: 1,
      title: `${zone.at(one.window_start).time} to ${zone.at(one.window_end).time}, `
        + countText(one.observation_count, 'screenshot'),
    }]
  })

const spendOf = (one: ScreenReport['course']['spend_hours'][number]): number =>
  one.spent_microusd + one.held_microusd

/** What the dearest hour of these days cost, micro-USD: the highest bar of money. */
export const spendMostOf = (
  report: ScreenReport, zone: Zone, days: ReadonlySet<string>,
): number => report.course.spend_hours
  .filter((one) => days.has(zone.at(one.at).day))
  .reduce((most, one) => Math.max(most, spendOf(one)), 0)

const spendBars = (report: ScreenReport, zone: Zone, day: string, most: number): Bar[] =>
  report.course.spend_hours.flatMap((one): Bar[] => {
    const seen = zone.at(one.at)
    if (seen.day !== day) return []
    const until = zone.at(new Date(Date.parse(one.at) + hourMs).toISOString()).time
    const span = { from: seen.minute, to: Math.min(minutesOfDay, seen.minute + 60) }
    const held = one.held_microusd === 0 ? '' : `, ${dollarsText(one.held_microusd)} held`
    return [{
      ...span, className: 'spent', height: spendOf(one) / most,
      title: `${seen.time} to ${until}, ${dollarsText(one.spent_microusd)} spent${held}`,
    }]
  })

/**
 * The bars of one day; a run or window over midnight is on both. `spendMost` is what the highest
 * bar of money stands for.
 */
export const lanesOf = (
  report: ScreenReport, zone: Zone, day: string, spendMost: number,
): DayLanes => {
  const runs = runBars(report, zone, day)
  return {
    episodes: episodeBars(report, zone, day),
    analysed: runs.filter(({ status }) => analysed.has(status)),
    open: runs.filter(({ status }) => !analysed.has(status)),
    spend: spendBars(report, zone, day, spendMost),
  }
}

/** The hours that are drawn: those with something in them, at least six, whole ones. */
export const drawnHours = (bars: readonly Bar[]): Span => {
  const begin = bars.reduce((least, { from }) => Math.min(least, from), minutesOfDay)
  const end = bars.reduce((most, { to }) => Math.max(most, to), 0)
  const first = Math.floor(begin / 60)
  const last = Math.max(first + 1, Math.ceil(end / 60))
  const missing = Math.max(0, 6 - (last - first))
  const latest = 24 - Math.max(6, last - first)
  const from = Math.max(0, Math.min(first - Math.floor(missing / 2), latest))
  return { from, to: Math.min(24, Math.max(last, from + 6)) }
}

/** Rarer ones are drawn after commoner ones, so that nothing that is rare lies covered. */
export const rarestLast = (bars: readonly Bar[]): Bar[] => {
  const counts = new Map<string, number>()
  for (const { className } of bars) counts.set(className, (counts.get(className) ?? 0) + 1)
  const often = ({ className }: Bar): number => counts.get(className) ?? 0
  return [...bars].sort((a, b) => often(b) - often(a))
}

interface Pile {
  bar: Bar
  until: number
  count: number
}

/**
 * Bars that are too narrow to be told apart become one with a count: neighbours of one class that
 * would be drawn over each other, each shorter than `least` minutes.
 */
export const withoutPiles = (bars: readonly Bar[], least: number): Bar[] => {
  const piles: Pile[] = []
  const open = new Map<string, Pile>()
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    const before = open.get(bar.className)
    if (before !== undefined && bar.to - bar.from < least && bar.from < before.until) {
      before.count += 1
      before.until = Math.max(before.until, bar.to)
      continue
    }
    const pile = { bar, until: Math.max(bar.to, bar.from + least), count: 1 }
    piles.push(pile)
    if (bar.to - bar.from < least) open.set(bar.className, pile)
    else open.delete(bar.className)
  }
  return piles.map(({ bar, until, count }) => (count === 1 ? bar : {
    ...bar, to: until, title: `${bar.title}, and ${count - 1} more up to ${timeOf(until)}`,
  }))
}

const timeOf = (minute: number): string => {
  const whole = Math.min(minutesOfDay, Math.ceil(minute))
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`
}
