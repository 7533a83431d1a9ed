/**
 * The one report builder over screen observations of every source (S-024). A report has three kinds
 * of content that never mix: facts of files, text that a model wrote (labelled with model and
 * time), and where things come from. Beside them stands what is counted: the course of the day and
 * the money. No picture, no hash, no path and no visible text is in any of them (S-025, S-107).
 */
import * as v from 'valibot'
import type {
  ModelText, ScreenObservationInput, ScreenReportInput,
} from './types.js'
import { zoneOf } from './zone.js'

/** Schema name of a report. */
export const reportSchemaName = 'svc.screen_report.v1'

/** Observations that are listed one by one; all are counted. */
export const reportLimits = { listedMax: 2_000, summariesMax: 500 } as const

const text = v.string()
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const nullableCount = v.nullable(count)

const authorEntries = {
  text, model: text, reply_model: text, written_at: text, outdated: v.boolean(),
}

const factShape = v.strictObject({
  filename: text, format: text, width: nullableCount, height: nullableCount, bytes: count,
})
/** What is told of one file: these five and nothing else (S-025). */
export type ReportFact = v.InferOutput<typeof factShape>

const runShape = v.strictObject({
  captured_at: text, last_seen_at: text, like_images: count, status: text,
})
/** How long one screen stood. */
export type ReportRun = v.InferOutput<typeof runShape>

const spendShape = v.strictObject({
  since: text, budget_microusd: nullableCount, spent_microusd: count, held_microusd: count,
  budget_requests: nullableCount, requests: count,
})

/** A report, and what `shots report --json` prints of it. */
export const reportShape = v.strictObject({
  schema: v.literal(reportSchemaName),
  made_at: text,
  period: v.strictObject({ since: text, until: text, time_zone: text }),
  /** The newest files of the period, oldest first. */
  facts: v.strictObject({ count, listed: count, observations: v.array(factShape) }),
  /** Counted, not written by anybody; `runs` is in the order of the facts. */
  course: v.strictObject({
    image_count: count,
    statuses: v.record(text, count),
    /** Images, like ones included, each by its own hour of the day in the time zone. */
    hours: v.pipe(v.array(count), v.length(24)),
    runs: v.array(runShape),
    spend: v.nullable(spendShape),
  }),
  /** Every entry was written by a language model from stored analyses (S-026). */
  model_text: v.strictObject({
    conclusion: v.nullable(v.strictObject({
      ...authorEntries, conclusion_id: text, current: v.boolean(), source_observation_count: count,
    })),
    digests: v.array(v.strictObject({
      ...authorEntries, episode_id: text, window_start: text, window_end: text,
      observation_count: count,
    })),
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
  }),
})
/** A report over one period. */
export type ScreenReport = v.InferOutput<typeof reportShape>

const author = (one: ModelText) => ({
  text: one.text, model: one.model, reply_model: one.replyModel, written_at: one.writtenAt,
  outdated: one.outdated,
})

const factOf = (one: ScreenObservationInput): ReportFact => ({
  filename: one.filename, format: one.format, width: one.width, height: one.height,
  bytes: one.bytes,
})

const runOf = (one: ScreenObservationInput): ReportRun => ({
  captured_at: one.capturedAt, last_seen_at: one.lastSeenAt, like_images: one.likeImages,
  status: one.status,
})

/** The image and its like ones at their own times; those without a known time at the image's. */
const timesOf = ({ capturedAt, likeImages, likeTimes = [] }: ScreenObservationInput) => {
  const known = likeTimes.reduce((sum, { images }) => sum + images, 0)
  return [{ at: capturedAt, images: 1 + Math.max(0, likeImages - known) }, ...likeTimes]
}

const courseOf = (
  input: ScreenReportInput, listed: readonly ScreenObservationInput[],
): ScreenReport['course'] => {
  const zone = zoneOf(input.timeZone)
  const statuses: Record<string, number> = {}
  const hours = Array.from({ length: 24 }, () => 0)
  let images = 0
  for (const one of input.observations) {
    statuses[one.status] = (statuses[one.status] ?? 0) + 1
    for (const { at, images: counted } of timesOf(one)) {
      const hour = Math.floor(zone.at(at).minute / 60)
      hours[hour] = (hours[hour] ?? 0) + counted
    }
    images += 1 + one.likeImages
  }
  const { spend } = input
  return {
    image_count: images, statuses, hours, runs: listed.map(runOf),
    spend: spend === null ? null : {
      since: spend.since, budget_microusd: spend.budgetMicrousd,
      spent_microusd: spend.spentMicrousd, held_microusd: spend.heldMicrousd,
      budget_requests: spend.budgetRequests, requests: spend.requests,
    },
  }
}

const modelTextOf = (
  input: ScreenReportInput, listed: readonly ScreenObservationInput[],
): ScreenReport['model_text'] => {
  const { conclusion, digests } = input
  const summaries = listed.flatMap((one, at) =>
    one.summary === null ? [] : [{ ...author(one.summary), number: at + 1 }])
  return {
    conclusion: conclusion === null ? null : {
      ...author(conclusion.text), conclusion_id: conclusion.conclusionId,
      current: conclusion.current,
      source_observation_count: conclusion.sourceObservationIds.length,
    },
    digests: digests.map((one) => ({
      ...author(one.text), episode_id: one.episodeId, window_start: one.windowStart,
      window_end: one.windowEnd, observation_count: one.sourceObservationIds.length,
    })),
    summaries: summaries.slice(-reportLimits.summariesMax),
  }
}

const provenanceOf = (input: ScreenReportInput): ScreenReport['provenance'] => {
  const { observations, digests, conclusion, excluded } = input
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
      source_missing: excluded.sourceMissing, stale_root: excluded.staleRoot,
      archived: excluded.archived, digests: excluded.digests,
    },
  }
}

/** Builds a report. Pure: no text in it is made up here; without a model there is none. */
export const buildReport = (input: ScreenReportInput): ScreenReport => {
  const listed = input.observations.slice(-reportLimits.listedMax)
  return {
    schema: reportSchemaName,
    made_at: input.madeAt,
    period: {
      since: input.since, until: input.until, time_zone: zoneOf(input.timeZone).name,
    },
    facts: {
      count: input.observations.length, listed: listed.length, observations: listed.map(factOf),
    },
    course: courseOf(input, listed),
    model_text: modelTextOf(input, listed),
    provenance: provenanceOf(input),
  }
}
