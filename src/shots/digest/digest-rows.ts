/**
 * Rows of digest episodes. The text lies sealed; a row holds what may be listed: no hash of an
 * image, no visible text, nothing of request or reply (S-102, S-103).
 */
import * as v from 'valibot'
import { count, iso, sha256, text } from '../../base/schema.js'
import { byTail } from '../../governance/by-tail.js'
import type { CollectionSpec, Index } from '../../state/types.js'
import { digestSchemaVersion, digestSourceTool } from '../constants.js'
import { madeTextEntries } from '../texts/made.js'

/** Texts of a window that are kept after newer ones. */
export const earlierTextsMax = 64

/** Metadata of one episode (S-098 to S-100). */
export const episodeShape = v.strictObject({
  episode_id: v.pipe(text, v.startsWith('epi_')),
  source_tool: v.literal(digestSourceTool),
  schema_version: v.literal(digestSchemaVersion),
  /** Digest of window and schema: the document's id (S-098, S-105). */
  digest_key: sha256,
  /** The window by capture time, half-open. */
  window_start: iso,
  window_end: iso,
  source_observation_ids: v.array(text),
  observation_count: count,
  /** Unicode code points of the content (S-100, S-141). */
  content_chars: count,
  /** SHA-256 of the sealed payload's bytes, which are canonical JSON (S-100). */
  payload_sha256: sha256,
  artifact_id: text,
  /** Digest of the ids and payload digests that the text was made from. */
  source_digest: sha256,
  /** Configured text of the model, and the names that the reply gave. */
  model: text,
  reply_model: text,
  reply_provider: text,
  prompt_version: text,
  operation_id: text,
  cost_microusd: count,
  written_at: iso,
  created_at: iso,
  updated_at: iso,
  /** 1 for the first text of the window, one more for each later one. */
  revision: v.pipe(count, v.minValue(1)),
  /** Sealed texts that this window had before, newest last; the oldest go out of the list. */
  earlier_artifact_ids: v.pipe(v.array(text), v.maxLength(earlierTextsMax)),
})
export type Episode = v.InferOutput<typeof episodeShape>

const madeShape = v.strictObject({
  ...madeTextEntries,
})
/** A text that was bought. */
export type MadeText = v.InferOutput<typeof madeShape>

const attemptShape = v.strictObject({
  source_digest: sha256,
  digest_key: sha256,
  /** How often a call was claimed; a new claim only ever follows one that sent nothing. */
  number: v.pipe(count, v.minValue(1)),
  /** Claim of the newest call. */
  input_digest: sha256,
  /** The text that it gave, or null. */
  made: v.nullable(madeShape),
})
/** What was tried for one set of inputs of one window. */
type DigestAttempt = v.InferOutput<typeof attemptShape>

const dayShape = v.strictObject({ keys: v.array(sha256) })

const headShape = v.strictObject({
  count,
  /** Days (UTC) of the first and the last window that has an episode. */
  first_day: text,
  last_day: text,
  /** End of the newest window, and when an episode was last written or changed. */
  latest_window_end: iso,
  latest_at: iso,
})
/** Counted from the episodes, so that status reads one small row (S-120). */
export type DigestHead = v.InferOutput<typeof headShape>

/** Episodes by their ids: the collection itself is keyed by window. */
export const episodesById: Index<Episode> = {
  name: 'episode', parts: 1, keysOf: ({ episode_id: id }) => [[id]],
}
/** Episodes by the end of their ids. */
export const episodesByTail = byTail<Episode>(({ episode_id: id }) => id)

/** The collections of digests. */
export const digestCollections = {
  /** By digest key. */
  episodes: {
    name: 'shot_digests', schema: episodeShape, partition: 'hash256',
    indexes: [episodesById, episodesByTail],
  },
  /** By source digest. */
  attempts: { name: 'shot_digest_attempts', schema: attemptShape, partition: 'hash256' },
  /** By UTC day of the window's start: keys in the order of the windows. */
  days: { name: 'shot_digest_days', schema: dayShape, partition: 'hash256' },
  /** Only `the`. */
  head: { name: 'shot_digest_head', schema: headShape, partition: 'one' },
} satisfies {
  episodes: CollectionSpec<Episode>
  attempts: CollectionSpec<DigestAttempt>
  days: CollectionSpec<v.InferOutput<typeof dayShape>>
  head: CollectionSpec<DigestHead>
}

/** Id of the only document of `digestCollections.head`. */
export const digestHeadId = 'the'
