import * as v from 'valibot'
import { windowOutcomes } from '../../../shots/digest/types.js'
import { dueFields } from '../../../shots/money.js'

const text = v.string()
const count = v.number()

/** Metadata of an episode, as JSON. */
export const episodeShape = v.strictObject({
  episode_id: text, source_tool: text, schema_version: text, digest_key: text, window_start: text,
  window_end: text, source_observation_ids: v.array(text), observation_count: count,
  content_chars: count, payload_sha256: text, artifact_id: text, source_digest: text, model: text,
  reply_model: text, reply_provider: text, prompt_version: text, operation_id: text,
  cost_microusd: count, written_at: text, created_at: text, updated_at: text, revision: count,
  earlier_artifact_ids: v.array(text),
})

/** Receipt of the digest job, as JSON. */
export const digestReceiptShape = v.strictObject({
  job: v.literal('screenshot_observation_digest'),
  receipt_id: v.nullable(text),
  status: v.picklist(['ok', 'disabled', 'blocked', 'degraded']),
  reason: v.nullable(text),
  windows: v.array(v.strictObject({
    window_start: text, window_end: text, outcome: v.picklist(windowOutcomes),
    reason: v.nullable(text), observation_count: count, episode: v.nullable(episodeShape),
    operation_id: v.nullable(text), cost_microusd: v.nullable(count),
    ...dueFields,
  })),
  written: count, updated: count, unchanged: count, not_repeated: count, blocked: count,
  failed: count, held_microusd: count, duration_ms: count,
})
