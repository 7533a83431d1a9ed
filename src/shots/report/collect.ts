/** What a report is built from, out of one view; opens no socket and writes nothing. */
import { isoWithin } from '../../base/calendar.js'
import { canonicalJson, digestOf } from '../../base/canonical.js'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { collections } from '../../governance/rows.js'
import type {
  ModelText, ScreenConclusionInput, ScreenDigestInput, ScreenObservationInput, ScreenReportInput,
} from '../../observations/types.js'
import { imagesIn } from '../../observations/images.js'
import { newestTold } from '../../observations/report.js'
import { namedIn, type NamedOn } from '../../observations/sums.js'
import type { View } from '../../state/types.js'
import { shotLabels, shotLimits } from '../constants.js'
import { savedSettings } from '../source/settings.js'
import type { ShotsContext } from '../context.js'
import {
  currentFacts, rowClassificationNow, rowStatusNow, type CurrentFacts,
} from '../observations/as-of-now.js'
import { episodesBetween } from '../digest/episode-store.js'
import { sourceDigestOf } from '../digest/plan.js'
import { readDigest } from '../digest/read-digest.js'
import type { Episode } from '../digest/digest-rows.js'
import { fileNameOfRow } from '../observations/file-name.js'
import { findObservations } from '../observations/find.js'
import {
  shotCollections, type Observation, type PayloadRef,
} from '../observations/observation-rows.js'
import { openRegistered } from '../payload/read-payload.js'
import { spendKnownSince } from '../../gateway/call/spend.js'
import { spendOfHours } from '../budget.js'
import { spendOfDay } from '../texts/budget.js'
import { mayBeTold, sourcesBetween, versionsOf, type Analysed } from '../texts/sources.js'
import type { ReportPeriod } from './period.js'
import { readConclusion } from './read-report.js'
import { moneyDueFor, reasonsFor } from './reasons.js'
import { conclusionCollections as c, conclusionHeadId, type MadeConclusion } from './report-rows.js'

/** Rows of a period, sorted by whether a report may hold them. */
interface Sorted {
  readonly rows: readonly Observation[]
  readonly sourceMissing: number
  readonly staleFolder: number
  readonly archived: number
}

/** No run is longer, so none that begins or ends further away reaches into a period. */
const runMs = shotLimits.visualRunRefreshMinutesMax * 60_000

/** Rows of a period that are read together: where they lie has little to do with their time. */
const rowsAtOnce = 10_000

const moved = (iso: string, byMs: number): string => isoWithin(msFromIso(iso) + byMs)

const laterOf = (a: string, b: string): string => (a > b ? a : b)

/** Times of the images of a row; a quarter hour counts from where the run had begun in it. */
export const timesOf = (row: Observation) => {
  const { screenshot_visual_run: run } = row
  return {
    capturedAt: row.captured_at,
    likeImages: run?.suppressed_count ?? 0,
    likeTimes: run === null ? [] : Object.entries(run.quarter_counts ?? {})
      .map(([at, images]) => ({ at: laterOf(at, run.first_seen), images })),
  }
}

/** Rows with an image in the period, oldest first: their own one or one that they stand for. */
export function* rowsOf(
  view: View, period: Pick<ReportPeriod, 'since' | 'until'>,
): Generator<Observation, void, undefined> {
  const wide = {
    since: moved(period.since, -runMs), until: moved(period.until, runMs), archived: true,
  }
  // Nearly all of them are kept.
  for (const row of findObservations(view, wide, rowsAtOnce)) {
    if (imagesIn(timesOf(row), period).images > 0) yield row
  }
}

const sortRows = (view: View, now: CurrentFacts, period: ReportPeriod): Sorted => {
  const rows: Observation[] = []
  const left = { sourceMissing: 0, staleFolder: 0, archived: 0 }
  for (const row of rowsOf(view, period)) {
    const classification = rowClassificationNow(row, now)
    if (row.archived_at !== null) left.archived += 1
    else if (classification === 'source_missing') left.sourceMissing += 1
    else if (classification === 'stale_root') left.staleFolder += 1
    else rows.push({ ...row, analysis_status: rowStatusNow(row, now) })
  }
  return { rows, ...left }
}

/** The last part of a path: a report tells no folder. */
const baseName = (text: string): string => text.slice(text.lastIndexOf('/') + 1)

/** When the image that the text is about was captured, where it is not this one (S-166). */
const asAtOf = ({ payload, ignored_sha256: areas }: Observation): Pick<ModelText, 'asAt'> => {
  const of = payload?.payload_of
  return of === undefined ? {}
    : { asAt: { capturedAt: of.captured_at, areasIgnored: areas !== undefined } }
}

const textOf = (row: Observation, payload: PayloadRef, summary: unknown): ModelText => ({
  text: typeof summary === 'string' ? summary : '',
  model: payload.model,
  replyModel: payload.reply_model,
  writtenAt: payload.payload_of?.analyzed_at ?? payload.analyzed_at,
  outdated: payload.earlier || row.analysis_status === 'needs_reanalysis',
  ...asAtOf(row),
})

/** What of a stored analysis a report holds. */
interface Opened {
  /** Null where only the names of it are told. */
  readonly summary: ModelText | null
  readonly named: NamedOn
}

/** Analyses that are opened together; of each only what a report holds is kept. */
const openedAtOnce = 256

/** One object for all pictures of which the same was named: there are few kinds of them. */
const sharedNames = (): ((named: NamedOn) => NamedOn) => {
  const known = new Map<string, NamedOn>()
  return (named) => {
    const key = canonicalJson(named)
    const shared = known.get(key) ?? named
    known.set(key, shared)
    return shared
  }
}

/**
 * Opens what is stored of each row, some at a time. One that is missing or untrue fails the report
 * where its summary is told; else it does not count, and `state check` tells it.
 */
const openedOf = (
  ctx: ShotsContext, view: View, rows: readonly Observation[], told: ReadonlySet<Observation>,
): ReadonlyMap<Observation, Opened> => {
  const share = sharedNames()
  const all = new Map<Observation, Opened>()
  const described = rows.filter(({ payload }) => payload !== null)
  for (let from = 0; from < described.length; from += openedAtOnce) {
    const some = described.slice(from, from + openedAtOnce)
    const stored = view.getMany(
      collections.artifacts, some.map(({ payload }) => payload?.artifact_id ?? ''))
    for (const [n, row] of some.entries()) {
      const { payload } = row
      try {
        const opened = openRegistered(ctx, stored[n])
        all.set(row, {
          summary: payload === null || !told.has(row)
            ? null : textOf(row, payload, opened['summary']),
          named: share(namedIn(opened)),
        })
      } catch (error) {
        if (told.has(row) || !(error instanceof SallyportError)) throw error
      }
    }
  }
  return all
}

const observationOf = (row: Observation, opened: Opened | undefined): ScreenObservationInput => ({
  observationId: row.observation_id,
  source: row.source,
  ...(row.edge === undefined ? {} : { place: row.edge.device_id }),
  filename: baseName(fileNameOfRow(row).text),
  format: row.format,
  width: row.width,
  height: row.height,
  bytes: row.bytes,
  ...timesOf(row),
  ignoredImages: row.screenshot_visual_run?.reason_counts['alike_outside_ignored'] ?? 0,
  lastSeenAt: row.screenshot_visual_run?.last_seen ?? row.captured_at,
  status: row.analysis_status,
  summary: opened?.summary ?? null,
  ...(opened === undefined ? {} : { named: opened.named, namedBy: row.payload?.model ?? '' }),
  analysed: row.payload !== null,
  reused: row.payload?.payload_of !== undefined,
})

/** Whether every observation that a text rests on may still be in a report (S-166). */
const standsOn = (view: View, ids: readonly string[]): boolean => ids.every((id) => {
  const row = view.get(shotCollections.observations, id)
  return row !== undefined && mayBeTold(row)
})

const digestOfEpisode = (ctx: ShotsContext, view: View, row: Episode): ScreenDigestInput => {
  const window = { start: row.window_start, end: row.window_end, key: row.digest_key }
  const now = sourceDigestOf(window, sourcesBetween(view, window.start, window.end))
  return {
    episodeId: row.episode_id,
    windowStart: row.window_start,
    windowEnd: row.window_end,
    sourceObservationIds: row.source_observation_ids,
    text: {
      text: readDigest(ctx.gov, view, row).content, model: row.model, replyModel: row.reply_model,
      writtenAt: row.written_at, outdated: now !== row.source_digest,
    },
  }
}

/** Analyses and digests that a conclusion over a period is made from. */
export interface ConclusionSources {
  readonly sources: readonly Analysed[]
  readonly episodes: readonly Episode[]
  readonly digest: string
}

/** What a conclusion over a period rests on, and the digest that says whether it changed. */
export const conclusionSources = (
  view: View, { since, until }: Pick<ReportPeriod, 'since' | 'until'>,
): ConclusionSources => {
  const sources = sourcesBetween(view, since, until)
  const episodes = episodesBetween(view, since, until)
    .filter((row) => standsOn(view, row.source_observation_ids))
  const digest = digestOf({
    schema: shotLabels.conclusion,
    sources: versionsOf(sources),
    digests: episodes.map((row) => [row.episode_id, row.payload_sha256]),
  })
  return { sources, episodes, digest }
}

const conclusionOf = (
  ctx: ShotsContext, view: View, made: MadeConclusion, current: boolean,
): ScreenConclusionInput => ({
  conclusionId: made.conclusion_id,
  digestIds: made.digest_ids,
  sourceObservationIds: made.source_observation_ids,
  current,
  text: {
    text: readConclusion(ctx.gov, view, made), model: made.model, replyModel: made.reply_model,
    writtenAt: made.written_at, outdated: !current,
  },
})

/** The conclusion over exactly this, else the newest one if all it rests on is in the report. */
const findConclusion = (
  ctx: ShotsContext, view: View, sources: ConclusionSources, { since, until }: ReportPeriod,
): ScreenConclusionInput | null => {
  const exact = view.get(c.conclusions, sources.digest)?.made
  if (exact) return conclusionOf(ctx, view, exact, true)
  const head = view.get(c.head, conclusionHeadId)
  const newest = head && view.get(c.conclusions, head.newest)?.made
  if (!newest) return null
  const inside = newest.source_observation_ids.every((id) => {
    const row = view.get(shotCollections.observations, id)
    return row !== undefined && mayBeTold(row)
      && row.captured_at >= since && row.captured_at < until
  })
  return inside ? conclusionOf(ctx, view, newest, false) : null
}

/** Collects a report. Throws what opening a sealed text throws. */
export const collectReport = (
  ctx: ShotsContext, view: View, period: ReportPeriod,
): ScreenReportInput => {
  const nowMs = ctx.gov.clock.wallMs()
  const { rows, ...left } = sortRows(view, currentFacts(ctx, view), period)
  const sources = conclusionSources(view, period)
  const told = newestTold(rows, ({ payload }) => payload !== null)
  const opened = openedOf(ctx, view, rows, told)
  return {
    madeAt: isoFromMs(nowMs),
    ...period,
    observations: rows.map((row) => observationOf(row, opened.get(row))),
    digests: sources.episodes.map((row) => digestOfEpisode(ctx, view, row)),
    conclusion: findConclusion(ctx, view, sources, period),
    spend: spendOfDay(ctx, view),
    spendHours: spendOfHours(view, period).map(({ settledMicrousd, ...one }) => ({
      ...one, spentMicrousd: settledMicrousd,
    })),
    spendKnownSince: spendKnownSince(view, period.since),
    reasons: reasonsFor(ctx, view, rows),
    moneyDue: moneyDueFor(view, rows),
    ignoring: { areas: savedSettings(view).ignore ?? [] },
    excluded: {
      ...left,
      digests: episodesBetween(view, period.since, period.until).length - sources.episodes.length,
    },
  }
}
