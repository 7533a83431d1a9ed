/** Hours of a day by the clocks of its zone. Pure. */
import { isoWithin } from '../../base/calendar.js'
import { fail } from '../../base/errors.js'
import type { Zone } from '../../observations/zone.js'
import type { MeantDay } from '../meant-day.js'

const timeForm = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/
const minuteMs = 60_000
const dayMinutes = 1_440

const minuteOf = (text: string): number => {
  const [, hour, minute] = timeForm.exec(text) ?? []
  if (hour !== undefined) return Number(hour) * 60 + Number(minute)
  if (text === '24:00') return dayMinutes
  throw fail.rejected('time_invalid', 'A time of the day is written as 14:00.', {
    next: 'Give --from and --to from 00:00 to 24:00.',
  })
}

/**
 * The part of a day between two times of its clocks. Where clocks are set back and a time comes
 * twice, the first one is meant. Throws `rejected` `time_invalid`.
 */
export const hoursWithin = (
  zone: Zone, meant: MeantDay, from = '00:00', to = '24:00',
): MeantDay => {
  const [first, last] = [minuteOf(from), minuteOf(to)]
  if (first >= last) {
    throw fail.rejected('time_invalid', 'The hours of a day end after they begin.', {
      next: 'Give a --to that is later than --from.',
    })
  }
  const end = Date.parse(meant.until)
  const reach = (minute: number, fromMs: number): number => {
    let at = fromMs
    while (at < end && zone.at(isoWithin(at)).minute < minute) at += minuteMs
    return Math.min(at, end)
  }
  const since = first === 0 ? Date.parse(meant.since) : reach(first, Date.parse(meant.since))
  const until = last === dayMinutes ? end : reach(last, since)
  return { ...meant, since: isoWithin(since), until: isoWithin(until) }
}
