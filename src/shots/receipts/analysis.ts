/** What a pass of the analysis job tells: printed by verbs and stored in its receipt. */
import * as v from 'valibot'
import { count, iso, nullableText, text } from '../../base/schema.js'
import { reanalyzeReasons } from '../constants.js'
import { dueFields } from '../money.js'
import { renewalShape } from './renewal.js'

/** How many of the blocked rows that were looked at have a reason, most first. */
export const blockedReasonsShape = v.array(v.strictObject({ reason: text, count }))
export type BlockedReasons = v.InferOutput<typeof blockedReasonsShape>

const itemShape = v.strictObject({
  observation_id: text,
  outcome: v.picklist(['succeeded', 'failed', 'blocked']),
  /** Why, where it did not succeed; a code. */
  reason: nullableText,
  operation_id: nullableText,
  cost_microusd: v.nullable(count),
  /** Present where it took the analysis of an image that it repeats: nothing was sent for it. */
  reused: v.optional(v.literal(true)),
  ...dueFields,
})
/** What became of one image (S-136). */
export type AnalysisItem = v.InferOutput<typeof itemShape>

/** Counts and facts of one tick, as the receipt keeps them. */
const analysisFactsShape = v.strictObject({
  /** `degraded`: something failed or work was left for a later pass; `blocked`: a closed gate. */
  status: v.picklist(['ok', 'blocked', 'degraded']),
  reason: nullableText,
  /** True for a tick of the job, which takes at most `concurrency` images (S-208). */
  scheduled: v.boolean(),
  /** Null for the job's own analysis. */
  reanalyze_reason: v.nullable(v.picklist(reanalyzeReasons)),
  limit: count,
  concurrency: count,
  timeout_seconds: count,
  /** scanned = analyzed + failed + blocked + skipped. */
  scanned: count,
  analyzed: count,
  /** Those of them that took the analysis of an image that they repeat, without a request. */
  reused: count,
  failed: count,
  blocked: count,
  /** Those of them that are held for a later image, because their region went on changing. */
  unsettled: count,
  /** Taken up and left as they were, for a later pass. */
  skipped: count,
  /** Blocked rows that became pending again. */
  restored: count,
  /** Pending images of the folder after it, and when the oldest of them was captured. */
  waiting: count,
  waiting_since: v.nullable(iso),
  /** Blocked rows that were left as they are, and why, as far as some were looked at. */
  passed_over: count,
  passed_over_reasons: blockedReasonsShape,
  /** Every gate that is closed for all images, most telling first. */
  closed_gates: v.array(text),
  /** Rows whose analysis was found to be of an older model, prompt or schema. */
  needs_reanalysis: count,
  /** Rows that were found to lie under an older folder. */
  stale_root: count,
  /** Operations whose disputed charges leave no room; only where there are. */
  disputed: v.optional(v.array(text)),
  cost_microusd: count,
  /** Held for charges that nobody knows. */
  held_microusd: count,
  /** The proof that this pass renewed, or tried to; its cost is in `cost_microusd`. */
  proof_renewal: v.nullable(renewalShape),
  /** Until when nothing is tried, because the gateway refused; null where it did not. */
  paused_until: v.nullable(iso),
  /** Consent that the calls rested on; null where none was made. */
  consent_id: nullableText,
  duration_ms: count,
  items: v.array(itemShape),
})
/** Facts of one pass of the analysis job. */
export type AnalysisFacts = v.InferOutput<typeof analysisFactsShape>

/** Receipt of one tick (S-136, S-137); the id is null where the state took no record. */
export const analysisReceiptShape = v.strictObject({
  job: v.literal('screenshot_folder_analysis'),
  receipt_id: nullableText,
  ...analysisFactsShape.entries,
})
export type AnalysisReceipt = v.InferOutput<typeof analysisReceiptShape>

const {
  reused, waiting, waiting_since, closed_gates, passed_over, passed_over_reasons, held_microusd,
  reanalyze_reason, proof_renewal, paused_until, unsettled,
} = analysisFactsShape.entries

/** The facts as states hold them: fields that came later may be missing in rows of old. */
export const storedAnalysisShape = v.strictObject({
  ...analysisFactsShape.entries,
  reused: v.optional(reused),
  unsettled: v.optional(unsettled),
  waiting: v.optional(waiting),
  waiting_since: v.optional(waiting_since),
  reanalyze_reason: v.optional(reanalyze_reason),
  passed_over: v.optional(passed_over),
  closed_gates: v.optional(closed_gates),
  passed_over_reasons: v.optional(passed_over_reasons),
  held_microusd: v.optional(held_microusd),
  proof_renewal: v.optional(proof_renewal),
  paused_until: v.optional(paused_until),
  items: v.array(v.strictObject({
    ...itemShape.entries,
    due: v.optional(dueFields.due),
    held_microusd: v.optional(dueFields.held_microusd),
  })),
})
