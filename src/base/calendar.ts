/**
 * The years 0 to 9999, whose ISO text has four digits: only such texts are in the order of the
 * times that they tell, so no other time is ever kept or looked for.
 */
import { isoFromMs, msFromIso } from './clock.js'

const firstMs = Date.parse('0000-01-01T00:00:00.000Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/** ISO text of milliseconds since 1970; the ends of the calendar stand for what lies beyond. */
export const isoWithin = (ms: number): string =>
  isoFromMs(Math.min(lastMs, Math.max(firstMs, ms)))

const dayChars = '2026-11-20'.length
const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** V8 takes 30 February for a day of March. */
const isDay = (day: string): boolean => {
  const ms = msFromIso(`${day}T00:00:00.000Z`)
  return !Number.isNaN(ms) && isoFromMs(ms).startsWith(day)
}

/**
 * ISO text in UTC, as every row has it, of a time such as `2026-11-20T10:00Z` or
 * `2026-11-20T12:00:00.5+02:00`; null for any other text.
 */
export const isoOfTime = (text: string): string | null => {
  const ms = timeForm.test(text) && isDay(text.slice(0, dayChars)) ? msFromIso(text) : Number.NaN
  return Number.isNaN(ms) ? null : isoWithin(ms)
}
