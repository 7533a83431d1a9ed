/**
 * The one report builder over screen observations of every source (S-024). A report has three kinds
 * of content that never mix: facts of files, text that a model wrote (labelled with model and
 * time), and where things come from. Beside them stands what is counted: the course of the day and
 * the money. No picture, no hash, no path and no visible text is in any of them (S-025, S-107).
 */
import * as v from 'valibot'
import { count, text } from '../base/schema.js'
import { nullableSentence } from '../base/told.js'
import { daysMax, placesOf, timeByDay } from './by-day.js'
import { imagesIn, type PeriodImages } from './images.js'
import { longestOf, msBetween } from './longest.js'
import { periodKinds } from './periods.js'
import type { ModelText, ScreenObservationInput, ScreenReportInput } from './types.js'
import { zoneOf } from './zone.js'

const reportSchemaName = 'svc.screen_report.v1'

/** Observations that are listed one by one, and told by their summary; all are counted. */
export const reportLimits = { listedMax: 5_000, summariesMax: 500 } as const

/** The newest observations of which `isTold` holds: as many as a report tells of by summary. */
export const newestTold = <T>(
  observations: readonly T[], isTold: (one: T) => boolean,
): ReadonlySet<T> => new Set(observations.filter(isTold).slice(-reportLimits.summariesMax))

const nullableCount = v.nullable(count)

const authorEntries = {
  text, model: text, reply_model: text, written_at: text, outdated: v.boolean(),
  /** The other image, of the same looks, that it was written about; null where it was of this. */
  as_at: v.nullable(v.strictObject({ captured_at: text, areas_ignored: v.boolean() })),
}
/** A text that a model wrote. */
export type Written =
  Pick<NonNullable<ScreenReport['model_text']['conclusion']>, keyof typeof authorEntries>

const factShape = v.strictObject({
  filename: text, format: text, width: nullableCount, height: nullableCount, bytes: count,
})
/** What is told of one file: these five and nothing else (S-025). */
type ReportFact = v.InferOutput<typeof factShape>

const runShape = v.strictObject({
  /** When the screen was first and last seen, within the period or not; like images are of it. */
  captured_at: text, last_seen_at: text, like_images: count, status: text,
})
/** How long one screen stood. */
export type ReportRun = v.InferOutput<typeof runShape>

const spendShape = v.strictObject({
  since: text, budget_microusd: nullableCount, spent_microusd: count, held_microusd: count,
  budget_requests: nullableCount, requests: count,
  /** Charges above their bounds that count whole in it and wait for a review. */
  disputed_charges: count,
})

const spendHourShape = v.strictObject({ at: text, spent_microusd: count, held_microusd: count })

const reasonShape = v.strictObject({
  status: text, reason: text, count, text: nullableSentence, next: nullableSentence,
  needs_person: v.boolean(),
})
/** Why observations of one status are what they are. */
export type ReportReason = v.InferOutput<typeof reasonShape>

const sumShape = v.strictObject({ name: text, seconds: count })

const timeEntries = {
  observation_count: count, seconds: count, activity: v.array(sumShape),
  application: v.array(sumShape), project: v.array(sumShape),
}

/** A report, and what `shots report --json` prints of it. */
export const reportShape = v.strictObject({
  schema: v.literal(reportSchemaName),
  made_at: text,
  period: v.strictObject({
    since: text, until: text, time_zone: text,
    /** What it is, and its name: `2026-11-20`, `2026-W47`, `2026-11`; null for no whole one. */
    kind: v.nullable(v.picklist(periodKinds)), name: v.nullable(text),
  }),
  /**
   * Files of the period, oldest first: those whose summary is told or that stood longest, and the
   * newest others. Like images of it count with theirs.
   */
  facts: v.strictObject({ count, listed: count, observations: v.array(factShape) }),
  /** Counted, not written by anybody; `runs` is in the order of the facts. */
  course: v.strictObject({
    image_count: count,
    /** Observations that stand for like images, too. */
    like_runs: count,
    statuses: v.record(text, count),
    /** Those of the analysed ones that were asked nothing about: they repeat an earlier image. */
    reused: count,
    /** Images of the period, each by its own hour of the day in the time zone. */
    hours: v.pipe(v.array(count), v.length(24)),
    /** Days with an image, the newest 366, each by its own day in the time zone. */
    days: v.array(v.strictObject({ day: text, image_count: count })),
    runs: v.array(runShape),
    spend: v.nullable(spendShape),
    /** Hours of the period in which a call was claimed, as far as their sums are kept. */
    spend_hours: v.array(spendHourShape),
    /** Where sums of the period are not kept any more: from when on they are. */
    spend_known_since: v.nullable(text),
    /** Why observations are blocked or failed; blocked ones as far as they were looked at. */
    reasons: v.array(reasonShape),
    /** What the calls of these observations leave to a person. */
    money_due: v.strictObject({ unknown_charges: count, held_microusd: count, overruns: count }),
  }),
  /** Every entry was written by a language model from stored analyses (S-026). */
  model_text: v.strictObject({
    conclusion: v.nullable(v.strictObject({
      ...authorEntries, conclusion_id: text, current: v.boolean(), source_observation_count: count,
    })),
    /**
     * How long what was on the screen, as the described observations of the period name it: one
     * counts on the day on which it was captured, until the next of that day, and at most five
     * minutes past the last time it was seen.
     */
    time: v.strictObject({
      ...timeEntries,
      /** Models that gave the names. */
      models: v.array(text),
      /** Days with such observations, the newest 366; the twelve longest names of each. */
      days: v.array(v.strictObject({ day: text, ...timeEntries })),
    }),
    digests: v.array(v.strictObject({
      ...authorEntries, episode_id: text, window_start: text, window_end: text,
      observation_count: count,
    })),
    /** Observations with an analysis; the newest of them have their summary here. */
    summary_count: count,
    /** `number` counts the listed facts from 1. */
    summaries: v.array(v.strictObject({ ...authorEntries, number: count })),
  }),
  provenance: v.strictObject({
    sources: v.array(text),
    observation_count: count,
    source_observation_ids: v.array(text),
    digest_count: count,
    digests: v.array(v.strictObject({ episode_id: text, source_observation_ids: v.array(text) })),
    conclusion: v.nullable(v.strictObject({
      conclusion_id: text, digest_ids: v.array(text), source_observation_ids: v.array(text),
    })),
    excluded: v.strictObject({
      source_missing: count, stale_root: count, archived: count, digests: count,
    }),
    /**
     * Areas that are ignored when images are compared, and how many of the observations stand for
     * images that differ from them there.
     */
    ignored: v.strictObject({ areas: v.array(text), observations: count }),
  }),
})
/** A report over one period. */
export type ScreenReport = v.InferOutput<typeof reportShape>

const author = (one: ModelText) => ({
  text: one.text, model: one.model, reply_model: one.replyModel, written_at: one.writtenAt,
  outdated: one.outdated,
  as_at: one.asAt === undefined ? null
    : { captured_at: one.asAt.capturedAt, areas_ignored: one.asAt.areasIgnored },
})

const factOf = (one: ScreenObservationInput): ReportFact => ({
  filename: one.filename, format: one.format, width: one.width, height: one.height,
  bytes: one.bytes,
})

/** An observation with what of it is in the period. */
interface Counted extends PeriodImages { readonly one: ScreenObservationInput }

/** A run that began before the period, or ended after it, is there with its images in it. */
const countedOf = (input: ScreenReportInput): Counted[] =>
  input.observations
    .map((one) => ({ one, ...imagesIn(one, input) }))
    .filter(({ images }) => images > 0)

const runOf = ({ one, likeImages }: Counted): ReportRun => ({
  captured_at: one.capturedAt, last_seen_at: one.lastSeenAt, like_images: likeImages,
  status: one.status,
})

const moneyOf = (
  { spend, spendHours, spendKnownSince, moneyDue: due }: ScreenReportInput,
): Pick<ScreenReport['course'], 'spend' | 'spend_hours' | 'spend_known_since' | 'money_due'> => ({
  spend: spend === null ? null : {
    since: spend.since, budget_microusd: spend.budgetMicrousd,
    spent_microusd: spend.spentMicrousd, held_microusd: spend.heldMicrousd,
    budget_requests: spend.budgetRequests, requests: spend.requests,
    disputed_charges: spend.disputedCharges,
  },
  spend_hours: spendHours.map((one) => ({
    at: one.at, spent_microusd: one.spentMicrousd, held_microusd: one.heldMicrousd,
  })),
  spend_known_since: spendKnownSince,
  money_due: {
    unknown_charges: due.unknownCharges, held_microusd: due.heldMicrousd,
    overruns: due.overruns,
  },
})

const courseOf = (
  input: ScreenReportInput, counted: readonly Counted[], listed: readonly Counted[],
): ScreenReport['course'] => {
  const placeOf = placesOf(zoneOf(input.timeZone))
  const statuses = new Map<string, number>()
  const hours = Array.from({ length: 24 }, () => 0)
  const days = new Map<string, number>()
  let images = 0
  for (const { one, times, images: here } of counted) {
    statuses.set(one.status, (statuses.get(one.status) ?? 0) + 1)
    for (const { at, images: then } of times) {
      const { day, hour } = placeOf(at)
      hours[hour] = (hours[hour] ?? 0) + then
      days.set(day, (days.get(day) ?? 0) + then)
    }
    images += here
  }
  return {
    image_count: images, like_runs: counted.filter(({ likeImages }) => likeImages > 0).length,
    statuses: Object.fromEntries(statuses),
    reused: counted.filter(({ one }) => one.reused === true && one.status === 'succeeded').length,
    hours,
    days: [...days].sort(([a], [b]) => (a < b ? -1 : 1)).slice(-daysMax)
      .map(([day, image_count]) => ({ day, image_count })),
    runs: listed.map(runOf),
    ...moneyOf(input),
    reasons: input.reasons.map(({ needsPerson, ...one }) => ({
      ...one, needs_person: needsPerson,
    })),
  }
}

const isAnalysed = ({ one: { summary, analysed } }: Counted): boolean =>
  analysed ?? summary !== null

const hasSummary = ({ one: { summary } }: Counted): boolean => summary !== null

/** Told by its summary or as one of the longest it is listed in any case, and the newest others. */
const listedOf = (counted: readonly Counted[]): readonly Counted[] => {
  const longest = longestOf(counted, ({ one }) => msBetween(one.capturedAt, one.lastSeenAt))
  const told = new Set([...newestTold(counted, hasSummary), ...longest])
  const others = counted.filter((one) => !told.has(one)).slice(told.size - reportLimits.listedMax)
  const listed = new Set([...told, ...others])
  return counted.filter((one) => listed.has(one))
}

const modelTextOf = (
  input: ScreenReportInput, counted: readonly Counted[], listed: readonly Counted[],
): ScreenReport['model_text'] => {
  const { conclusion, digests } = input
  const told = newestTold(listed, hasSummary)
  const summaries = listed.flatMap((seen, at) => {
    const { summary } = seen.one
    return summary === null || !told.has(seen) ? [] : [{ ...author(summary), number: at + 1 }]
  })
  return {
    conclusion: conclusion === null ? null : {
      ...author(conclusion.text), conclusion_id: conclusion.conclusionId,
      current: conclusion.current,
      source_observation_count: conclusion.sourceObservationIds.length,
    },
    time: timeByDay(input, zoneOf(input.timeZone), counted.map(({ one }) => one)),
    digests: digests.map((one) => ({
      ...author(one.text), episode_id: one.episodeId, window_start: one.windowStart,
      window_end: one.windowEnd, observation_count: one.sourceObservationIds.length,
    })),
    summary_count: counted.filter(isAnalysed).length,
    summaries,
  }
}

const provenanceOf = (
  input: ScreenReportInput, counted: readonly Counted[],
): ScreenReport['provenance'] => {
  const { digests, conclusion, excluded, ignoring } = input
  const observations = counted.map(({ one }) => one)
  return {
    sources: [...new Set(observations.map(({ source }) => source))].sort(),
    observation_count: observations.length,
    source_observation_ids: observations.map(({ observationId }) => observationId),
    digest_count: digests.length,
    digests: digests.map((one) => ({
      episode_id: one.episodeId, source_observation_ids: [...one.sourceObservationIds],
    })),
    conclusion: conclusion === null ? null : {
      conclusion_id: conclusion.conclusionId, digest_ids: [...conclusion.digestIds],
      source_observation_ids: [...conclusion.sourceObservationIds],
    },
    excluded: {
      source_missing: excluded.sourceMissing, stale_root: excluded.staleFolder,
      archived: excluded.archived, digests: excluded.digests,
    },
    ignored: {
      areas: [...ignoring.areas],
      observations: observations.filter((one) => (one.ignoredImages ?? 0) > 0).length,
    },
  }
}

/** Builds a report. Pure: no text in it is made up here; without a model there is none. */
export const buildReport = (input: ScreenReportInput): ScreenReport => {
  const counted = countedOf(input)
  const listed = listedOf(counted)
  return {
    schema: reportSchemaName,
    made_at: input.madeAt,
    period: {
      since: input.since, until: input.until, time_zone: zoneOf(input.timeZone).name,
      kind: input.calendar?.kind ?? null, name: input.calendar?.name ?? null,
    },
    facts: {
      count: counted.length, listed: listed.length,
      observations: listed.map(({ one }) => factOf(one)),
    },
    course: courseOf(input, counted, listed),
    model_text: modelTextOf(input, counted, listed),
    provenance: provenanceOf(input, counted),
  }
}
