/** The settings status, closed; fields are only ever added. Null: could not be told just now. */
import * as v from 'valibot'
import { count, nullableText, text } from '../../base/schema.js'
import { command, nullableSentence } from '../../base/told.js'
import { gatewayReceiptShape } from '../../gateway/receipt.js'
import { blockedReasonsShape } from '../receipts/analysis.js'
import { smallChangesToldShape } from '../receipts/scan.js'
import { analysisStatuses } from '../constants.js'

const nullableCount = v.nullable(count)
const seconds = v.nullable(v.pipe(v.number(), v.safeInteger()))

const mix = v.strictObject(Object.fromEntries(
  analysisStatuses.map((status) => [status, count]),
) as { [K in (typeof analysisStatuses)[number]]: typeof count })

const analysisShape = v.strictObject({
  /** The folder that the counts are about, but for those named historical or stale. */
  counted_root: nullableText,
  observation_count: nullableCount,
  /** Every observation there ever was, of all folders, archived ones too. */
  total_historical_observation_count: nullableCount,
  status_mix: v.nullable(mix),
  /** Why blocked ones are, as of now; most first. */
  blocked_reasons: v.nullable(blockedReasonsShape),
  /** How many blocked ones that tells; fewer than `status_mix` has where some had to be read. */
  blocked_looked_at: nullableCount,
  /** What opens the way for most of them. */
  blocked_next: nullableSentence,
  /** Why failed ones did; most first. */
  failed_reasons: v.nullable(blockedReasonsShape),
  /** Succeeded ones that were asked nothing about: each repeats an image that was described. */
  reused_count: nullableCount,
  active_backlog: nullableCount,
  active_failures: nullableCount,
  source_missing_count: nullableCount,
  /** What paired devices captured; of no folder, and in none of its numbers. */
  device_observation_count: nullableCount,
  /** Of all folders: rows that clear-stale would look at, and rows that it archived. */
  stale_cleanup: v.strictObject({ stale_root_count: nullableCount, archived_count: nullableCount }),
  visual_run_count: nullableCount,
  visual_suppression_count: nullableCount,
  db_lock: v.strictObject({ retry_count: count, failure_count: count }),
  latest_observation_at: nullableText,
  latest_analyzed_at: nullableText,
  digest_count: nullableCount,
  latest_digest_at: nullableText,
  metadata_status: v.picklist(['ok', 'partial']),
  metadata_failure: nullableText,
})
/** The part about observations. */
export type AnalysisStatusPart = v.InferOutput<typeof analysisShape>

const scannedShape = v.strictObject({
  root: text, current: v.boolean(), observation_count: count, archived_count: count,
  stale_root_count: count, latest_observation_at: nullableText, last_scan_at: nullableText,
})
/** One folder that was ever scanned. */
export type ScannedFolder = v.InferOutput<typeof scannedShape>

const folderShape = v.strictObject({
  configured_folder: nullableText,
  configuration_source: v.nullable(v.picklist(['environment', 'settings', 'default'])),
  saved_folder: nullableText,
  editable: v.boolean(),
  recursive: v.nullable(v.boolean()),
  /** Areas that do not count when images are compared; what is sent holds them all the same. */
  ignored: v.nullable(v.array(text)),
  /** Observations that differ from the image before them in one small rectangle only. */
  small_changes: v.nullable(smallChangesToldShape),
  image_count: nullableCount,
  latest_image_at: nullableText,
  /**
   * When the images were counted, where that was by the last scan, because the folder is too large
   * to be looked at here; null: just now, as far as `summary_failure` says.
   */
  image_count_at: nullableText,
  local_scan_status: v.picklist(['never', 'ok', 'degraded', 'failed', 'unknown']),
  last_scan_at: nullableText,
  last_scan_reason: nullableText,
  manual_scan_action: v.strictObject({ command, method: text, path: text }),
  inspection_endpoint: text,
  inspection_command: command,
  stored_artifact_type: v.literal('image'),
  newest_item_at: nullableText,
  newest_item_age_seconds: seconds,
  summary_status: v.picklist(['ok', 'partial']),
  summary_failure: nullableText,
  analysis: analysisShape,
  /** Newest first, at most 20. */
  roots: v.array(scannedShape),
})
/** The part about the folder. */
export type FolderStatusPart = v.InferOutput<typeof folderShape>

const visionShape = v.strictObject({
  /** Whether jobs renew proofs by themselves, as saved. */
  renew_proof: nullableText,
  gateway_state: text,
  gateway_reason: nullableText,
  selected_model: nullableText,
  upstream_allow: v.array(text),
  cloud_consent: v.strictObject({
    analysis: nullableText, cloud_upload: nullableText,
    egress_acknowledged: v.boolean(), vision_consent_current: v.boolean(),
  }),
  controls: v.strictObject({
    fallbacks: nullableText, data_collection: nullableText, zdr: nullableText,
  }),
  budget: v.strictObject({
    period: v.literal('rolling_day'), budget_microusd: nullableCount,
    budget_requests: nullableCount, request_cost_bound_microusd: nullableCount,
    /** Since when it is counted, and what was charged, is held and was asked since. */
    since: nullableText, settled_microusd: nullableCount, held_microusd: nullableCount,
    requests: nullableCount,
    /** Charges above their bounds that count whole in it and wait for a review. */
    disputed_charges: nullableCount,
  }),
  capability_proof: v.strictObject({
    state: v.picklist(['missing', 'current', 'stale', 'unknown']), reason: nullableText,
    proof_id: nullableText, made_at: nullableText, receipt: v.nullable(gatewayReceiptShape),
  }),
  /** Images are left alone for now, because the gateway refused one; null while they are not. */
  paused: v.nullable(v.strictObject({
    reason: text, refusals: count, since: text, until: text, operation_id: text,
    /** The image that was refused last; null where it was a proof, or is not told. */
    observation_id: nullableText,
  })),
  remote_routing_safe: v.boolean(),
  /** Every gate that does not hold, most telling first. */
  unsafe_reasons: v.array(text),
})
/** The part about the remote vision profile. */
export type VisionStatusPart = v.InferOutput<typeof visionShape>

/** What `shots status --json` prints. */
export const shotsStatusShape = v.strictObject({
  schema_version: v.literal('svc.screenshot_status.v1'),
  checked_at: text,
  screenshot_folder: folderShape,
  remote_vision: visionShape,
  /** Nothing was probed: this read only looks at what is stored (S-050). */
  vlm_runtime: v.strictObject({
    live_probe: v.strictObject({
      checked: v.literal(false), reason: v.literal('deferred_fast_metadata'),
    }),
  }),
})
export type ShotsStatus = v.InferOutput<typeof shotsStatusShape>
