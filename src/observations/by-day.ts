/**
 * A period by its days. Time is counted day by day, so that the sum of a week is that of its days,
 * and a day says the same alone as beside others: a picture counts on the day on which it was
 * captured, until the next one of that day, and never past its midnight.
 */
import { secondsByPlace, timeSums, type NamedOn, type TimeSum, type TimeSums } from './sums.js'
import type { ScreenObservationInput, ScreenReportInput } from './types.js'
import { nextDay, startOfDay, type Zone } from './zone.js'

/** Names of one day that a report tells; the sums of its whole period have all. */
const namesMax = 12

/** Days that are told one by one, the newest; all of them count in the sums. */
export const daysMax = 366

/** Where a moment lies in a zone. */
interface Place {
  readonly day: string
  readonly hour: number
}

const quarterMs = 900_000

/** Day and hour of times; since 1973 those of one quarter hour share them everywhere. */
export const placesOf = (zone: Zone): ((iso: string) => Place) => {
  const known = new Map<number, Place>()
  const placeOf = (iso: string): Place => {
    const { day, minute } = zone.at(iso)
    return { day, hour: Math.floor(minute / 60) }
  }
  return (iso) => {
    if (iso < '1973') return placeOf(iso)
    const quarter = Math.floor(Date.parse(iso) / quarterMs)
    const place = known.get(quarter) ?? placeOf(iso)
    known.set(quarter, place)
    return place
  }
}

/** Time of one day. */
export interface DayTime extends TimeSums {
  readonly day: string
  readonly observation_count: number
  readonly seconds: number
}

/** Time of a period, and of its days. */
export interface PeriodTime extends TimeSums {
  readonly observation_count: number
  readonly seconds: number
  /** Models that named what was counted. */
  readonly models: string[]
  readonly days: DayTime[]
}

interface Told {
  readonly named: NamedOn
  readonly seconds: number
}

const sumsOf = (told: readonly Told[]) => ({
  observation_count: told.length,
  seconds: told.reduce((sum, { seconds }) => sum + seconds, 0),
  ...timeSums(told.map(({ named }) => named), told.map(({ seconds }) => seconds)),
})

const first = (sums: readonly TimeSum[]): TimeSum[] => sums.slice(0, namesMax)

const dayOf = (day: string, told: readonly Told[]): DayTime => {
  const { activity, application, project, ...counts } = sumsOf(told)
  return {
    day, ...counts, activity: first(activity), application: first(application),
    project: first(project),
  }
}

type Pictures = readonly ScreenObservationInput[]

/** Every picture ends the one before it; those whose analysis was opened are told. */
const toldOf = (pictures: Pictures, endMs: number): Told[] => {
  const seconds = secondsByPlace(pictures.map(({ capturedAt, lastSeenAt, place = '' }) =>
    ({ atMs: Date.parse(capturedAt), seenMs: Date.parse(lastSeenAt), place })), endMs)
  return pictures.flatMap(({ named }, at) =>
    (named === undefined ? [] : [{ named, seconds: seconds[at] ?? 0 }]))
}

/** Time by what a model named, over the pictures that were captured in the period. */
export const timeByDay = (
  { since, until, madeAt }: ScreenReportInput, zone: Zone, pictures: Pictures,
): PeriodTime => {
  const placeOf = placesOf(zone)
  const byDay = new Map<string, ScreenObservationInput[]>()
  const models = new Set<string>()
  for (const one of pictures) {
    if (one.capturedAt < since || one.capturedAt >= until) continue
    const { day } = placeOf(one.capturedAt)
    const before = byDay.get(day)
    if (before === undefined) byDay.set(day, [one])
    else before.push(one)
    if (one.namedBy !== undefined) models.add(one.namedBy)
  }
  const end = Math.min(Date.parse(until), Date.parse(madeAt))
  const days = [...byDay].map(([day, those]) =>
    ({ day, told: toldOf(those, Math.min(end, startOfDay(zone, nextDay(day)) ?? end)) }))
    .filter(({ told }) => told.length > 0)
  return {
    ...sumsOf(days.flatMap(({ told }) => told)), models: [...models].sort(),
    days: days.slice(-daysMax).map(({ day, told }) => dayOf(day, told)),
  }
}
