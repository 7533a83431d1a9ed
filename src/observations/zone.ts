/** Days and hours of a time zone. */

/** One moment as people of a zone read it. */
export interface ZoneTime {
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

const known = (name: string): { name: string; format: Intl.DateTimeFormat } => {
  try {
    return { name, format: formatOf(name) }
  } catch {
    return { name: 'UTC', format: formatOf('UTC') }
  }
}

/** The zone of an IANA name; one that this machine does not know counts as UTC. */
export const zoneOf = (wanted: string): Zone => {
  const { name, format } = known(wanted)
  return {
    name,
    at(iso) {
      const parts = Object.fromEntries(
        format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]),
      )
      const { year = '', month = '', day = '', hour = '00', minute = '00' } = parts
      return {
        day: `${year.padStart(4, '0')}-${month}-${day}`,
        minute: Number(hour) * 60 + Number(minute),
        time: `${hour}:${minute}`,
      }
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

const stepMs = 6 * 3_600_000
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
