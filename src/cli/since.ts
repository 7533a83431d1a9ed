/** Points in time on a line: a day, ISO text, or how long ago. */
import { isoOfTime, isoWithin } from '../base/calendar.js'
import { fail } from '../base/errors.js'
import { isoFromMs, type Clock } from '../base/clock.js'
import { startOfDay, timeZoneOf, zoneOf } from '../observations/zone.js'
import type { CliDeps } from './deps.js'
import { parseDuration } from './flags.js'

const dayForm = /^\d{4}-\d{2}-\d{2}$/
const ageForm = /^[0-9]+[smhd]$/
const yearsMs = 100 * 366 * 86_400_000

const momentOf = (text: string, timeZone: string): string | null => {
  if (!dayForm.test(text)) return isoOfTime(text)
  const ms = startOfDay(zoneOf(timeZone), text)
  return ms === null ? null : isoWithin(ms)
}

/**
 * ISO text in UTC of `2026-11-20` (where that day begins in the zone), `2026-11-20T10:00Z` or `8h`
 * (ago). Throws `rejected` `flag_invalid`.
 */
export const pointInTime = (flag: string, text: string, clock: Clock, timeZone: string): string => {
  if (ageForm.test(text)) {
    return isoFromMs(clock.wallMs() - parseDuration(flag, text, { min: 1000, max: yearsMs }))
  }
  const moment = momentOf(text, timeZone)
  if (moment !== null) return moment
  throw fail.rejected(
    'flag_invalid',
    `Flag ${flag} must be a day such as 2026-11-20, a time such as 2026-11-20T10:00Z, or an age `
      + 'such as 8h.',
    { details: { field: flag, rule: 'time' } },
  )
}

/** A line whose `--since` is such a time, in the zone of this run. */
export const withSince = <Line extends { readonly since?: string | undefined }>(
  line: Line, { clock, env }: Pick<CliDeps, 'clock' | 'env'>,
): Line => (line.since === undefined
  ? line : { ...line, since: pointInTime('--since', line.since, clock, timeZoneOf(env)) })
