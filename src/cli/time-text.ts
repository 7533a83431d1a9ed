/** Times for people: how long ago, or in how long. */
import { msFromIso } from '../base/clock.js'
import { shiftedDay, type Zone } from '../observations/zone.js'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** So many days of the calendar are counted; what is further away is told by its day. */
const countedDaysMax = 6

const away = (text: string, isPast: boolean): string => (isPast ? `${text} ago` : `in ${text}`)

/** Whole units, rounded towards now: 59.9 s are 59 s, and nothing is told as older than it is. */
export const spanText = (ms: number): string => {
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)} s`
  return ms < hourMs ? `${Math.floor(ms / minuteMs)} min` : `${Math.floor(ms / hourMs)} h`
}

/** How many days of the calendar lie between two of them; null for more than are counted. */
const daysBetween = (earlier: string, later: string): number | null => {
  for (let days = 0; days <= countedDaysMax; days += 1) {
    if (shiftedDay(earlier, days) === later) return days
  }
  return null
}

const byCalendar = (ms: number, iso: string, nowMs: number, zone: Zone): string => {
  const isPast = ms <= nowMs
  const there = zone.at(iso)
  const { day: today } = zone.at(new Date(nowMs).toISOString())
  const days = isPast ? daysBetween(there.day, today) : daysBetween(today, there.day)
  if (days === null) return there.day
  // A day on which clocks are put back has 25 hours.
  if (days === 0) return away(spanText(Math.abs(nowMs - ms)), isPast)
  if (days === 1) return `${isPast ? 'yesterday' : 'tomorrow'} ${there.time}`
  return away(`${days} days`, isPast)
}

/**
 * An ISO time as a person at a terminal reads it: `now`, `59 s ago`, `in 3 min`, `23 h ago`,
 * `yesterday 14:03`, `6 days ago`, and the day alone (`2026-11-20`) from a week on. Below 24 hours
 * the span decides, above it the calendar of the zone. What lies ahead of the clock is told with
 * `in`, whether it is a limit or the clock was put back. `zone` is asked for from 24 hours on
 * alone. What is no time is given back as it is.
 *
 * The words are ours: `Intl.RelativeTimeFormat` writes `3 min. ago`, `3m ago` or `3 min ago` by the
 * version of its data, so that one command would answer in several ways on one machine.
 */
export const relativeTime = (iso: string, nowMs: number, zone: () => Zone): string => {
  const ms = msFromIso(iso)
  if (Number.isNaN(ms)) return iso
  const span = Math.abs(nowMs - ms)
  if (span < secondMs) return 'now'
  return span < dayMs ? away(spanText(span), ms < nowMs) : byCalendar(ms, iso, nowMs, zone())
}
