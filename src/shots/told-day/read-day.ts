/**
 * Reading one day for the page of its owner: pictures that a report may hold, by windows, with the
 * stored sentence of each window. Opens no socket, takes no lock, changes no byte.
 */
import { isoWithin } from '../../base/calendar.js'
import { fail, SallyportError } from '../../base/errors.js'
import { requireDefaultPrincipal } from '../../governance/principals.js'
import type { Session } from '../../governance/context.js'
import { imagesIn } from '../../observations/images.js'
import {
  namedIn, secondsByPlace, timeSums, type Counted, type TimeSum,
} from '../../observations/sums.js'
import { timeZoneOf, zoneOf, type Zone } from '../../observations/zone.js'
import type { View } from '../../state/types.js'
import { spendKnownSince } from '../../gateway/call/spend.js'
import { spendOfHours } from '../budget.js'
import type { ShotsContext } from '../context.js'
import { readDigest } from '../digest/read-digest.js'
import { currentFacts, reportReadinessOf } from '../observations/as-of-now.js'
import { shotLimits } from '../constants.js'
import { fileNameOfRow } from '../observations/file-name.js'
import type { Observation } from '../observations/observation-rows.js'
import { openPayload } from '../payload/read-payload.js'
import { conclusionSources, rowsOf, timesOf } from '../report/collect.js'
import { meantDay, type MeantDay } from '../meant-day.js'
import { hoursWithin } from './hours.js'
import type { DayEpisode, DayPicture, ToldDay } from './told-day-contract.js'

/** What the default owner alone may do. */
const owner = 'is shown its days'

/** Windows of pictures that no digest was written of, ms. */
const windowMs = 1_800_000
/** No digest has a longer window (`digest_window_minutes`). */
const longestWindowMs = shotLimits.digestWindowMinutesMax * 60_000

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const nothingNamed = { activity: null, applications: [], project: null } as const

/** ISO text; half-open. */
interface Period {
  readonly since: string
  readonly until: string
}

interface Told {
  readonly row: Observation
  readonly counted: Counted & { readonly place: string }
  readonly picture: DayPicture
}

/** What was stored of an image; null where it is missing or untrue, which `state check` tells. */
const payloadOf = (
  ctx: ShotsContext, view: View, { payload }: Observation,
): Readonly<Record<string, unknown>> | null => {
  if (payload === null) return null
  try {
    return openPayload(ctx, view, payload)
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

const toldOf = (ctx: ShotsContext, view: View, row: Observation): Told => {
  const opened = payloadOf(ctx, view, row)
  const { text } = fileNameOfRow(row)
  return {
    row,
    counted: {
      atMs: Date.parse(row.captured_at),
      seenMs: Date.parse(row.screenshot_visual_run?.last_seen ?? row.captured_at),
      place: row.edge?.device_id ?? '',
      ...(opened === null ? nothingNamed : namedIn(opened)),
    },
    picture: {
      observation_id: row.observation_id, captured_at: row.captured_at,
      filename: text.slice(text.lastIndexOf('/') + 1), summary: textOf(opened?.['summary']),
      source: row.source, device_name: row.edge?.device_name ?? null,
    },
  }
}

/** A window while its pictures are put into it. */
interface Window extends Omit<DayEpisode, 'seconds' | 'activity' | 'application' | 'project'> {
  readonly counted: Counted[]
  readonly counts: number[]
}

const windowOf = (start: string, end: string): Window => ({
  episode_id: null, start, end, text: null, model: null, written_at: null, pictures: [],
  counted: [], counts: [],
})

const episodeOf = ({ counted, counts, ...one }: Window): DayEpisode => {
  const time = timeSums(counted, counts)
  const most = (sums: readonly TimeSum[]): string | null => sums[0]?.name ?? null
  return {
    ...one, seconds: counts.reduce((sum, some) => sum + some, 0),
    activity: most(time.activity), application: most(time.application),
    project: most(time.project),
  }
}

/** Digests of the day, and windows of what lies in none, in the order of their beginnings. */
const episodesOf = (
  ctx: ShotsContext, view: View, told: readonly Told[], seconds: readonly number[],
  { since, until }: Period,
): DayEpisode[] => {
  // A window that begins before may reach into it, with its sentence.
  const before = isoWithin(Date.parse(since) - longestWindowMs)
  const { episodes } = conclusionSources(view, { since: before, until })
  const found: Window[] = episodes.filter(({ window_end: end }) => end > since).map((row) => ({
    ...windowOf(row.window_start, row.window_end), episode_id: row.episode_id,
    text: readDigest(ctx.gov, view, row).content, model: row.model, written_at: row.written_at,
  }))
  const add = ({ picture, counted }: Told, n: number): void => {
    const { captured_at: at } = picture
    let one = found.find(({ start, end }) => start <= at && at < end)
    if (one === undefined) {
      const startMs = Math.floor(Date.parse(at) / windowMs) * windowMs
      one = windowOf(isoWithin(startMs), isoWithin(startMs + windowMs))
      found.push(one)
    }
    one.pictures.push(picture)
    one.counted.push(counted)
    one.counts.push(seconds[n] ?? 0)
  }
  told.forEach(add)
  return found.sort((a, b) => (a.start < b.start ? -1 : Number(a.start > b.start))).map(episodeOf)
}

/** Images by the hour of the wall clock, like ones that were merged with others too. */
const hoursOf = (
  zone: Zone, rows: readonly Observation[], period: Period,
): number[] => {
  const hours = Array.from({ length: 24 }, () => 0)
  for (const row of rows) {
    for (const { at, images } of imagesIn(timesOf(row), period).times) {
      const hour = Math.floor(zone.at(at).minute / 60)
      hours[hour] = (hours[hour] ?? 0) + images
    }
  }
  return hours
}

/** The day that is meant, up to now. Throws `rejected` `day_invalid`, `time_zone_unknown`. */
const upToToday = (
  ctx: ShotsContext, asked: { readonly day?: string | undefined; readonly timeZone: string },
): MeantDay => {
  const meant = meantDay(ctx.gov.clock.wallMs(), asked, 'today')
  if (meant.day <= meant.today) return meant
  throw fail.rejected('day_invalid', 'This day is still to come.', {
    next: 'Ask for a day up to today.',
  })
}

const zoneHere = (ctx: ShotsContext): string => zoneOf(timeZoneOf(ctx.env)).name

const one = (name: string | null): readonly string[] => (name === null ? [] : [name])

/** Devices of which there are pictures, by how many. */
const devicesOf = (told: readonly Told[]): ToldDay['devices'] => {
  const devices = new Map<string, ToldDay['devices'][number]>()
  for (const { row: { edge } } of told) {
    if (edge === undefined) continue
    const { device_id: id, device_name: name } = edge
    const pictures = (devices.get(id)?.pictures ?? 0) + 1
    devices.set(id, { device_id: id, device_name: name, pictures })
  }
  return [...devices.values()].sort((a, b) => b.pictures - a.pictures)
}

const toldIn = (
  ctx: ShotsContext, view: View, zone: Zone, { day, today, ...period }: MeantDay,
): ToldDay => {
  const end = Date.parse(period.until)
  const now = currentFacts(ctx, view)
  // Pictures of before may stand for like ones in it, as long as any setting let a run be.
  const rows = [...rowsOf(view, period)]
    .filter((row) => reportReadinessOf(row, now) !== 'excluded')
  const told = rows
    .filter(({ captured_at: at }) => at >= period.since && at < period.until)
    .map((row) => toldOf(ctx, view, row))
  const counted = told.map((picture) => picture.counted)
  const seconds = secondsByPlace(counted, Math.min(end, ctx.gov.clock.wallMs()))
  const spend = spendOfHours(view, period)
  return {
    day, today, time_zone: zone.name, pictures: told.length,
    analysed: told.filter(({ row }) => row.payload !== null).length,
    devices: devicesOf(told),
    seconds: seconds.reduce((sum, some) => sum + some, 0),
    hours: hoursOf(zone, rows, period),
    time: timeSums(counted, seconds),
    models: [...new Set(told.flatMap(({ row }) => one(row.payload?.model ?? null)))],
    episodes: episodesOf(ctx, view, told, seconds, period),
    spent_microusd: spend.reduce((sum, { settledMicrousd: some }) => sum + some, 0),
    held_microusd: spend.reduce((sum, { heldMicrousd: some }) => sum + some, 0),
    spend_known_since: spendKnownSince(view, period.since),
  }
}

/**
 * Reads a day for the default owner. Throws `unauthorized` `not_default_principal`, `rejected`
 * `day_invalid`, and what opening a digest throws.
 */
export const readToldDay = (
  ctx: ShotsContext, session: Session, wanted: string | undefined,
): ToldDay => {
  const view = ctx.gov.store.read()
  requireDefaultPrincipal(view, session, owner)
  const timeZone = zoneHere(ctx)
  return toldIn(ctx, view, zoneOf(timeZone), upToToday(ctx, { day: wanted, timeZone }))
}

/** Which day, or hours of it, in which zone. */
export interface DayAsked {
  readonly day?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly timeZone?: string | undefined
}

/**
 * Reads a day, or hours of it, for whoever is at the machine, as `shots report` does. Throws
 * `rejected` `day_invalid`, `time_invalid`, `time_zone_unknown`, and what opening a digest throws.
 */
export const readDay = (
  ctx: ShotsContext, { day, from, to, timeZone = zoneHere(ctx) }: DayAsked,
): ToldDay & { readonly since: string; readonly until: string } => {
  const whole = upToToday(ctx, { day, timeZone })
  const zone = zoneOf(timeZone)
  const part = hoursWithin(zone, whole, from, to)
  const { since, until } = part
  return { ...toldIn(ctx, ctx.gov.store.read(), zone, part), since, until }
}
