/** Days, weeks and months of the calendar: their names, days and what lies beside them. Pure. */
import { longDay, shiftedDay } from './zone.js'

/** Periods that have a name. */
export const periodKinds = ['day', 'week', 'month'] as const

/** One of them. */
export type PeriodKind = (typeof periodKinds)[number]

/** A whole day, week or month. */
export interface CalendarPeriod {
  readonly kind: PeriodKind
  /** `2026-11-20`, `2026-W47` as ISO 8601 counts weeks, `2026-11`. */
  readonly name: string
  /** Its first and its last day, `2026-11-20`. */
  readonly first: string
  readonly last: string
}

const dateOf = (day: string): Date => new Date(`${day}T12:00:00.000Z`)

/** 0 for Monday. */
const weekdayOf = (day: string): number => (dateOf(day).getUTCDay() + 6) % 7

const weekMs = 7 * 86_400_000

/** The number of a week is that of its Thursday in the year of that. */
const weekName = (monday: string): string => {
  const thursday = shiftedDay(monday, 3)
  const year = thursday.slice(0, 4)
  const since = dateOf(thursday).getTime() - dateOf(`${year}-01-01`).getTime()
  return `${year}-W${String(Math.floor(since / weekMs) + 1).padStart(2, '0')}`
}

/** Four days behind the 28th are in the next month, whatever this one is. */
const lastOfMonth = (day: string): string =>
  shiftedDay(`${shiftedDay(`${day.slice(0, 7)}-28`, 4).slice(0, 7)}-01`, -1)

export const periodNamed = (kind: PeriodKind, day: string): CalendarPeriod => {
  if (kind === 'day') return { kind, name: day, first: day, last: day }
  if (kind === 'month') {
    return { kind, name: day.slice(0, 7), first: `${day.slice(0, 7)}-01`, last: lastOfMonth(day) }
  }
  const first = shiftedDay(day, -weekdayOf(day))
  return { kind, name: weekName(first), first, last: shiftedDay(first, 6) }
}

/** The one before it and the one behind it. */
export const beside = ({ kind, first, last }: CalendarPeriod) => ({
  before: periodNamed(kind, shiftedDay(first, -1)), behind: periodNamed(kind, shiftedDay(last, 1)),
})

export const daysWithin = ({ first, last }: CalendarPeriod): string[] => {
  const days = [first]
  for (let day = first; day < last && days.length < 31;) {
    day = shiftedDay(day, 1)
    days.push(day)
  }
  return days
}

/** The name of the file of its page, always the same one. */
export const pageName = ({ name }: CalendarPeriod): string => `screenshots-${name}.html`

const written = (day: string, options: Intl.DateTimeFormatOptions): string => {
  const date = dateOf(day)
  return Number.isNaN(date.getTime()) ? day
    : new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(date)
}

/** `Tue, 17 Nov` of a day. */
export const shortDay = (day: string): string =>
  written(day, { weekday: 'short', day: 'numeric', month: 'short' })

/** `Friday, 20 November 2026`, `week 47 of 2026, 16 November to 22 November`, `November 2026`. */
export const periodTitle = ({ kind, name, first, last }: CalendarPeriod): string => {
  if (kind === 'day') return longDay(first)
  if (kind === 'month') return written(first, { month: 'long', year: 'numeric' })
  const [year = '', week = ''] = name.split('-W')
  const date = (day: string): string => written(day, { day: 'numeric', month: 'long' })
  return `week ${Number(week)} of ${year}, ${date(first)} to ${date(last)}`
}
