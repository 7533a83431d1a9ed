/** What a pass of the digest job keeps of itself: names, counts and digests, no text. */
import * as v from 'valibot'
import { count, iso, nullableText, text } from '../../base/schema.js'
import { dueFields } from '../money.js'
import { renewalShape } from './renewal.js'

/**
 * What became of one window. `not_repeated`: it was tried with these very inputs before, or they
 * changed between the look of a tick and its claim (`inputs_changed`), which sends nothing.
 */
const windowOutcomes = [
  'written', 'updated', 'unchanged', 'empty', 'not_repeated', 'blocked', 'failed',
] as const
/** One of `windowOutcomes`. */
export type WindowOutcome = (typeof windowOutcomes)[number]

/** Fields of one window of a tick, but for its episode. */
export const windowEntries = {
  window_start: text,
  window_end: text,
  outcome: v.picklist(windowOutcomes),
  /** Why nothing was written. */
  reason: nullableText,
  /** Observations of the window that a digest may be made from. */
  observation_count: count,
  operation_id: nullableText,
  cost_microusd: v.nullable(count),
  ...dueFields,
}

/** Fields of a tick, but for its windows. */
export const digestEntries = {
  job: v.literal('screenshot_observation_digest'),
  status: v.picklist(['ok', 'disabled', 'blocked', 'degraded']),
  reason: nullableText,
  written: count,
  updated: count,
  unchanged: count,
  not_repeated: count,
  blocked: count,
  failed: count,
  /** Held for charges that nobody knows, micro-USD. */
  held_microusd: count,
  /** The proof that this pass renewed, or tried to. */
  proof_renewal: v.nullable(renewalShape),
  /** Until when nothing is tried, because the gateway refused; null where it did not. */
  paused_until: v.nullable(iso),
  /** Operations whose disputed charges leave no room; only where there are. */
  disputed: v.optional(v.array(text)),
  duration_ms: count,
}

/** The facts as states hold them: fields that came later may be missing in rows of old. */
export const storedDigestShape = v.strictObject({
  ...digestEntries,
  held_microusd: v.optional(count),
  proof_renewal: v.optional(digestEntries.proof_renewal),
  paused_until: v.optional(digestEntries.paused_until),
  windows: v.array(v.strictObject({
    ...windowEntries,
    due: v.optional(dueFields.due),
    held_microusd: v.optional(dueFields.held_microusd),
    episode_id: nullableText,
    digest_key: nullableText,
    payload_sha256: nullableText,
    revision: v.nullable(count),
  })),
})
export type StoredDigest = v.InferOutput<typeof storedDigestShape>
