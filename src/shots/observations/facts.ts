/** What verbs and the service tell of an observation: local facts, never the semantic analysis. */
import * as v from 'valibot'
import { count, nullableText, text } from '../../base/schema.js'
import {
  analysisStatuses, classifications, edgeSource, reanalyzeReasons, screenshotSource,
} from '../constants.js'
import {
  reportReadinesses, reportReadinessOf, rowClassificationNow, rowStatusNow, type CurrentFacts,
} from './as-of-now.js'
import { fileNameOfRow } from './file-name.js'
import type { FileName, Observation } from './observation-rows.js'

const nameFields = { path: text, path_bytes_base64: nullableText }

/** One row of a list. */
export const listedShape = v.strictObject({
  observation_id: text,
  source: v.picklist([screenshotSource, edgeSource]),
  captured_at: text,
  observed_at: text,
  /**
   * Image folder, and the name below it under which these bytes were seen first; of a capture the
   * place that its device is, and the id of the upload.
   */
  root: text,
  ...nameFields,
  /** The paired device that captured it; null for the images of folders. */
  device_id: nullableText,
  device_name: nullableText,
  format: v.picklist(['png', 'jpeg']),
  bytes: count,
  width: v.nullable(count),
  height: v.nullable(count),
  sha256: text,
  /** As of now: a changed model, prompt or schema makes a succeeded one old. */
  analysis_status: v.picklist(analysisStatuses),
  /** Why the status is what it is; null for a good one. */
  reason: nullableText,
  classification: v.nullable(v.picklist(classifications)),
  archived_at: nullableText,
  suppressed_count: count,
  report_readiness: v.picklist(reportReadinesses),
})
export type Listed = v.InferOutput<typeof listedShape>

const visualRunShape = v.strictObject({
  representative_path: text, first_seen: text, last_seen: text, suppressed_count: count,
  latest_suppressed_path: nullableText, reason_counts: v.record(text, count),
})

/** What is known of the analysis without its content. */
const madeShape = v.strictObject({
  model: text, reply_model: text, prompt_version: text, schema_version: text, analyzed_at: text,
  cost_microusd: count, operation_id: text,
  /** True when a later attempt failed: this is what succeeded before it. */
  earlier: v.boolean(),
  /** The image of the same looks that it was made for; null where it was made for this one. */
  payload_of: nullableText,
  payload_captured_at: nullableText,
})

/** The local image metadata analysis of one observation (S-181). */
export const observationFactsShape = v.strictObject({
  ...listedShape.entries,
  captured_in_future: v.boolean(),
  paths: v.array(v.strictObject({ ...nameFields, modified_at: text })),
  screenshot_visual_run: v.nullable(visualRunShape),
  analyzer: v.strictObject({
    reason: nullableText, detail: nullableText, attempts: count,
    contact: v.picklist(['none', 'claimed', 'ended', 'uncertain']),
    operation_id: nullableText,
    reanalyze_reason: v.nullable(v.picklist(reanalyzeReasons)),
    updated_at: nullableText,
  }),
  /** The later image that stands for it while it is blocked as unsettled; else null. */
  stood_for_by: nullableText,
  /** How the stored analysis was made; its content only with --analysis. */
  analysis: v.nullable(madeShape),
})
export type ObservationFacts = v.InferOutput<typeof observationFactsShape>

const nameOf = ({ text: path, bytes_base64 }: FileName) =>
  ({ path, path_bytes_base64: bytes_base64 })

/** A row as lists show it. */
export const listedOf = (row: Observation, now: CurrentFacts): Listed => ({
  observation_id: row.observation_id,
  source: row.source,
  captured_at: row.captured_at,
  observed_at: row.observed_at,
  root: row.root,
  ...nameOf(fileNameOfRow(row)),
  device_id: row.edge?.device_id ?? null,
  device_name: row.edge?.device_name ?? null,
  format: row.format,
  bytes: row.bytes,
  width: row.width,
  height: row.height,
  sha256: row.sha256,
  analysis_status: rowStatusNow(row, now),
  reason: row.analyzer.reason,
  classification: rowClassificationNow(row, now),
  archived_at: row.archived_at,
  suppressed_count: row.screenshot_visual_run?.suppressed_count ?? 0,
  report_readiness: reportReadinessOf(row, now),
})

const madeOf = ({ payload: made }: Observation): ObservationFacts['analysis'] =>
  made === null ? null : {
    model: made.model, reply_model: made.reply_model, prompt_version: made.prompt_version,
    schema_version: made.schema_version, analyzed_at: made.analyzed_at,
    cost_microusd: made.cost_microusd, operation_id: made.operation_id, earlier: made.earlier,
    payload_of: made.payload_of?.observation_id ?? null,
    payload_captured_at: made.payload_of?.captured_at ?? null,
  }

const runOf = ({ screenshot_visual_run: run }: Observation) => {
  if (run === null) return null
  return {
    representative_path: run.representative_path, first_seen: run.first_seen,
    last_seen: run.last_seen, suppressed_count: run.suppressed_count,
    latest_suppressed_path: run.latest_suppressed_path, reason_counts: run.reason_counts,
  }
}

/** Everything local about a row. */
export const observationFactsOf = (row: Observation, now: CurrentFacts): ObservationFacts => ({
  ...listedOf(row, now),
  captured_in_future: row.captured_in_future,
  paths: row.paths.map(({ name, modified_at }) => ({ ...nameOf(name), modified_at })),
  screenshot_visual_run: runOf(row),
  analyzer: {
    reason: row.analyzer.reason, detail: row.analyzer.detail, attempts: row.analyzer.attempts,
    contact: row.analyzer.contact, operation_id: row.analyzer.operation_id,
    reanalyze_reason: row.analyzer.reanalyze_reason, updated_at: row.analyzer.updated_at,
  },
  stood_for_by: row.stood_for_by ?? null,
  analysis: madeOf(row),
})
