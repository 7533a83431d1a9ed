/**
 * Rows of digest episodes. The text lies sealed; a row holds what may be listed: no hash of an
 * image, no visible text, nothing of request or reply (S-102, S-103).
 */
import * as v from 'valibot'
import type { CollectionSpec } from '../../state/types.js'
import { digestSchemaVersion, digestSourceTool } from '../constants.js'

const text = v.string()
const iso = v.pipe(v.string(), v.isoTimestamp())
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const digestShape = v.strictObject({
  episode_id: v.pipe(text, v.startsWith('dig_')),
  source_tool: v.literal(digestSourceTool),
  schema_version: v.literal(digestSchemaVersion),
  /** Digest of window and schema: the document's id (S-098, S-105). */
  digest_key: sha256,
  /** The window, half-open. */
  window_start: iso,
  window_end: iso,
  source_observation_ids: v.array(text),
  observation_count: count,
  /** Unicode code points of the content (S-100). */
  content_chars: count,
  /** SHA-256 of the canonical sealed payload. */
  payload_sha256: sha256,
  artifact_id: text,
  /** Digest of the ids and payload digests that the text was made from. */
  source_digest: sha256,
  /** Configured text of the model, and the names that the reply gave. */
  model: text,
  reply_model: text,
  reply_provider: text,
  operation_id: text,
  cost_microusd: count,
  /** 1 for the first text of the window, and one more for each later one. */
  revision: v.pipe(count, v.minValue(1)),
  created_at: iso,
  updated_at: iso,
})
/** Metadata of one episode. */
export type DigestRow = v.InferOutput<typeof digestShape>

/** Episodes by digest key. */
export const digestCollection: CollectionSpec<DigestRow> = {
  name: 'shot_digests', schema: digestShape, partition: 'hash256',
}
