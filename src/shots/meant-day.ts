/** Which day is meant, and where it begins and ends in a time zone. Pure. */
import { isoWithin } from '../base/calendar.js'
import { fail } from '../base/errors.js'
import { shiftedDay, startOfDay, zoneOf } from '../observations/zone.js'

/** One day of a zone, half-open, by the time of each image. */
export interface MeantDay {
  /** `2026-11-20`. */
  readonly day: string
  /** The day that it is now. */
  readonly today: string
  /** IANA name. */
  readonly timeZone: string
  /** ISO text, included. */
  readonly since: string
  /** ISO text, excluded. */
  readonly until: string
}

/** Longer than any day of any zone is, shorter than two: what comes behind it is the next day. */
const behindMs = 36 * 3_600_000

/**
 * The day that was asked for: `today`, `yesterday`, or one of the calendar; `unless` where none
 * was. Throws `rejected` `time_zone_unknown` and `day_invalid`.
 */
export const meantDay = (
  nowMs: number,
  { day, timeZone }: { readonly day?: string | undefined; readonly timeZone: string },
  unless: 'today' | 'yesterday' = 'yesterday',
): MeantDay => {
  const zone = zoneOf(timeZone)
  if (zone.name !== timeZone) {
    throw fail.rejected('time_zone_unknown', 'This machine knows no time zone of that name.', {
      next: 'Give the name of a zone such as Europe/Berlin, or leave --time-zone out.',
    })
  }
  const { day: today } = zone.at(isoWithin(nowMs))
  const words: Readonly<Record<string, string>> = { today, yesterday: shiftedDay(today, -1) }
  const asked = day ?? unless
  const meant = words[asked] ?? asked
  const from = startOfDay(zone, meant)
  if (from === null) {
    throw fail.rejected('day_invalid', 'There is no such day in the calendar.', {
      next: 'Give a day such as 2026-11-20, today or yesterday.',
    })
  }
  const until = startOfDay(zone, shiftedDay(meant, 1)) ?? from + behindMs
  return { day: meant, today, timeZone, since: isoWithin(from), until: isoWithin(until) }
}
