import { isoFromMs } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { periodNamed, type CalendarPeriod, type PeriodKind } from '../../observations/periods.js'
import { meantDay } from '../meant-day.js'

/** The period of a report, half-open, by the time of each image. */
export interface ReportPeriod {
  /** ISO text, included. */
  readonly since: string
  /** ISO text, excluded. */
  readonly until: string
  /** IANA name of the zone in which days are told. */
  readonly timeZone: string
  /** The day, week or month that it is; left out where it is none. */
  readonly calendar?: CalendarPeriod
}

const dayMs = 86_400_000

/**
 * The period that was asked for; what is left open is the last 24 hours up to now. Throws
 * `rejected` `period_empty`.
 */
export const reportPeriod = (
  nowMs: number,
  { since, until, timeZone }: {
    readonly since?: string; readonly until?: string; readonly timeZone: string
  },
): ReportPeriod => {
  const period = {
    since: since ?? isoFromMs(nowMs - dayMs),
    // Rounded up, so that a screenshot of this very moment is in it.
    until: until ?? isoFromMs(nowMs + 1),
    timeZone,
  }
  if (period.since < period.until) return period
  throw fail.rejected('period_empty', 'The period ends before it begins.', {
    next: 'Give --since an earlier time than --until.',
  })
}

/**
 * The whole day, week (from Monday) or month in which a day lies. Throws `rejected` `day_invalid`
 * and `time_zone_unknown`.
 */
export const calendarPeriod = (
  nowMs: number,
  { kind, day, timeZone }: {
    readonly kind: PeriodKind; readonly day?: string | undefined; readonly timeZone: string
  },
): ReportPeriod => {
  const meant = meantDay(nowMs, { day, timeZone }, 'today')
  const calendar = periodNamed(kind, meant.day)
  const edge = (of: string) => meantDay(nowMs, { day: of, timeZone })
  return {
    since: edge(calendar.first).since, until: edge(calendar.last).until, timeZone, calendar,
  }
}
