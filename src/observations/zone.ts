/** Days and hours of a time zone. */

/** One moment as people of a zone read it. */
interface ZoneTime {
  /** `2026-11-20`. */
  readonly day: string
  /** Minutes since midnight by the wall clock, 0 to 1439. */
  readonly minute: number
  /** `14:05`. */
  readonly time: string
}

/** A time zone. */
export interface Zone {
  /** IANA name. */
  readonly name: string
  at(iso: string): ZoneTime
}

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
    hour: '2-digit', minute: '2-digit',
  })

const formatKnown = (name: string): { name: string; format: Intl.DateTimeFormat } => {
  try {
    return { name, format: formatOf(name) }
  } catch {
    return { name: 'UTC', format: formatOf('UTC') }
  }
}

/**
 * The zone of an IANA name; one that this machine does not know counts as UTC. It keeps what it
 * told: a page asks for the times of each screen on each of its days.
 */
export const zoneOf = (wanted: string): Zone => {
  const { name, format } = formatKnown(wanted)
  const told = new Map<string, ZoneTime>()
  return {
    name,
    at(iso) {
      const before = told.get(iso)
      if (before !== undefined) return before
      const parts = Object.fromEntries(
        format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]),
      )
      const { year = '', month = '', day = '', hour = '00', minute = '00' } = parts
      const time = {
        day: `${year.padStart(4, '0')}-${month}-${day}`,
        minute: Number(hour) * 60 + Number(minute),
        time: `${hour}:${minute}`,
      }
      told.set(iso, time)
      return time
    },
  }
}

/** `Friday, 20 November 2026` of a day. */
export const longDay = (day: string): string => {
  const date = new Date(`${day}T12:00:00Z`)
  return Number.isNaN(date.getTime()) ? day : new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long', year: 'numeric',
  }).format(date)
}

const hourMs = 3_600_000
const dayForm = /^\d{4}-\d{2}-\d{2}$/

/**
 * Milliseconds since 1970 UTC at which a day (`2026-11-20`) begins in a zone: its midnight, or the
 * first moment after it where clocks leap over that. Null for what is no day of the calendar.
 */
export const startOfDay = (zone: Zone, day: string): number | null => {
  const utc = dayForm.test(day) ? Date.parse(`${day}T00:00:00.000Z`) : Number.NaN
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== day) return null
  // No zone is further from UTC than this; the ends of the calendar are left as they are.
  let [before, from] = [utc - 16 * hourMs, utc + 16 * hourMs]
  const begun = (ms: number): boolean => zone.at(new Date(ms).toISOString()).day >= day
  if (day.startsWith('0000') || begun(before) || !begun(from)) return utc
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (begun(middle)) from = middle
    else before = middle
  }
  return from
}

/** The day that comes so many days behind another one, by the calendar alone. */
export const shiftedDay = (day: string, days: number): string => {
  const date = new Date(Date.parse(`${day}T12:00:00.000Z`) + days * 24 * hourMs)
  // Behind the last day that ISO text knows there is none that begins.
  return Number.isNaN(date.getTime()) ? day : date.toISOString().slice(0, 10)
}

export const nextDay = (day: string): string => shiftedDay(day, 1)

const stepMs = 6 * hourMs
const daysMax = 366

/** Every day of the zone that a span touches, in order; a span of years is cut at a year. */
export const daysOf = (zone: Zone, from: string, to: string): string[] => {
  const days: string[] = []
  const add = (ms: number): void => {
    const { day } = zone.at(new Date(ms).toISOString())
    if (days.at(-1) !== day) days.push(day)
  }
  const end = Date.parse(to)
  for (let at = Date.parse(from); at < end && days.length < daysMax; at += stepMs) add(at)
  if (days.length < daysMax) add(Math.max(end, Date.parse(from)))
  return days
}

/**
 * The zone in which days are told and meant: that of `TZ`, which POSIX may begin with a colon, else
 * the machine's; an IANA name. A file of zones is named by what follows `zoneinfo/` in its path;
 * one elsewhere, as /etc/localtime, is what the machine says of itself.
 */
export const timeZoneOf = (env: Readonly<Record<string, string | undefined>>): string => {
  const named = env['TZ']?.replace(/^:/, '') ?? ''
  const name = named.startsWith('/') ? /\/zoneinfo\/(.+)$/.exec(named)?.[1] : named
  return name || Intl.DateTimeFormat().resolvedOptions().timeZone
}
