/**
 * Reading one day for the page of its owner: pictures that a report may hold, by windows, with the
 * stored sentence of each window. Opens no socket, takes no lock, changes no byte.
 */
import { isoWithin } from '../../base/calendar.js'
import { fail, SallyportError } from '../../base/errors.js'
import { requireDefaultPrincipal } from '../../governance/principals.js'
import type { Session } from '../../governance/session/types.js'
import { imagesIn } from '../../observations/images.js'
import { startOfDay, timeZoneOf, zoneOf, type Zone } from '../../observations/zone.js'
import type { View } from '../../state/types.js'
import { spendOfHours } from '../budget.js'
import type { ShotsContext } from '../context.js'
import { readDigest } from '../digest/read.js'
import { currentFacts, reportReadinessOf } from '../observations/as-of-now.js'
import { fileNameOfRow } from '../observations/file-name.js'
import { findObservations } from '../observations/find.js'
import type { Observation } from '../observations/rows.js'
import { openPayload } from '../payload/read.js'
import { conclusionSources, timesOf } from '../report/collect.js'
import type { DayEpisode, DayPicture, ToldDay } from './contract.js'
import { secondsOf, sumsBy, type Counted } from './sums.js'

/** What the default owner alone may do. */
const owner = 'is shown its days'

/** Windows of pictures that no digest was written of, ms. */
const windowMs = 1_800_000
const dayMs = 86_400_000

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const namesOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])

interface Told {
  readonly row: Observation
  readonly counted: Counted
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
      activity: textOf(opened?.['activity']), applications: namesOf(opened?.['applications']),
      project: opened === null ? null : textOf(opened['project']) ?? 'none told',
    },
    picture: {
      observation_id: row.observation_id, captured_at: row.captured_at,
      filename: text.slice(text.lastIndexOf('/') + 1), summary: textOf(opened?.['summary']),
    },
  }
}

const emptyEpisode = (start: string, end: string): DayEpisode => ({
  episode_id: null, start, end, text: null, model: null, written_at: null, pictures: [],
})

/** Digests of the day, and windows of what lies in none, in the order of their beginnings. */
const episodesOf = (
  ctx: ShotsContext, view: View, told: readonly Told[], since: string, until: string,
): DayEpisode[] => {
  const found: DayEpisode[] = conclusionSources(view, { since, until }).episodes.map((row) => ({
    episode_id: row.episode_id, start: row.window_start, end: row.window_end,
    text: readDigest(ctx.gov, view, row).content, model: row.model, written_at: row.written_at,
    pictures: [],
  }))
  const add = (picture: DayPicture): void => {
    const { captured_at: at } = picture
    let one = found.find(({ start, end }) => start <= at && at < end)
    if (one === undefined) {
      const startMs = Math.floor(Date.parse(at) / windowMs) * windowMs
      one = emptyEpisode(isoWithin(startMs), isoWithin(startMs + windowMs))
      found.push(one)
    }
    one.pictures.push(picture)
  }
  for (const { picture } of told) add(picture)
  return found.sort((a, b) => (a.start < b.start ? -1 : Number(a.start > b.start)))
}

/** Images by the hour of the wall clock, like ones that were merged with others too. */
const hoursOf = (
  zone: Zone, told: readonly Told[], period: { readonly since: string, readonly until: string },
): number[] => {
  const hours = Array.from({ length: 24 }, () => 0)
  for (const { row } of told) {
    for (const { at, images } of imagesIn(timesOf(row), period).times) {
      const hour = Math.floor(zone.at(at).minute / 60)
      hours[hour] = (hours[hour] ?? 0) + images
    }
  }
  return hours
}

/** The day that is meant, and where it begins and ends. Throws `rejected` `day_invalid`. */
const spanOf = (zone: Zone, wanted: string | undefined, now: string) => {
  const today = zone.at(now).day
  const day = wanted ?? today
  const start = startOfDay(zone, day)
  if (start === null || day > today) {
    throw fail.rejected('day_invalid', 'This is no day up to today.', {
      next: 'Ask for a day like 2026-11-27.',
    })
  }
  const next = zone.at(isoWithin(start + dayMs * 1.25)).day
  const end = startOfDay(zone, next) ?? start + dayMs
  return { day, today, start, end }
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
  const zone = zoneOf(timeZoneOf(ctx.env))
  const nowMs = ctx.gov.clock.wallMs()
  const { day, today, start, end } = spanOf(zone, wanted, isoWithin(nowMs))
  const [since, until] = [isoWithin(start), isoWithin(end)]
  const now = currentFacts(ctx, view)
  const told = [...findObservations(view, { since, until })]
    .filter((row) => reportReadinessOf(row, now) !== 'excluded')
    .map((row) => toldOf(ctx, view, row))
  const counted = told.map((one) => one.counted)
  const seconds = secondsOf(counted, Math.min(end, nowMs))
  const hours = hoursOf(zone, told, { since, until })
  const spend = spendOfHours(view, { since, until })
  const one = (name: string | null): readonly string[] => (name === null ? [] : [name])
  return {
    day, today, time_zone: zone.name, pictures: told.length,
    analysed: told.filter(({ row }) => row.payload !== null).length,
    seconds: seconds.reduce((sum, some) => sum + some, 0), hours,
    time: {
      activity: sumsBy(counted, seconds, ({ activity }) => one(activity)),
      application: sumsBy(counted, seconds, ({ applications }) => applications),
      project: sumsBy(counted, seconds, ({ project }) => one(project)),
    },
    models: [...new Set(told.flatMap(({ row }) => one(row.payload?.model ?? null)))],
    episodes: episodesOf(ctx, view, told, since, until),
    spent_microusd: spend.reduce((sum, { settledMicrousd: some }) => sum + some, 0),
    held_microusd: spend.reduce((sum, { heldMicrousd: some }) => sum + some, 0),
  }
}
