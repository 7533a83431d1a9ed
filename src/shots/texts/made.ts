/** What a row says of a text that was bought, a digest's or a report's. */
import * as v from 'valibot'
import { count, text } from '../../base/schema.js'
import { collections } from '../../governance/rows.js'
import type { View } from '../../state/types.js'

/** Entries of a strict object; the text itself lies sealed under `artifact_id`. */
export const madeTextEntries = {
  artifact_id: text,
  /** SHA-256 of the sealed payload's bytes, which are canonical JSON. */
  payload_sha256: v.pipe(text, v.regex(/^[0-9a-f]{64}$/)),
  /** Unicode code points. */
  content_chars: count,
  source_observation_ids: v.array(text),
  model: text,
  reply_model: text,
  reply_provider: text,
  prompt_version: text,
  operation_id: text,
  cost_microusd: count,
  written_at: v.pipe(text, v.isoTimestamp()),
}

/** Whether the sealed text of a row is registered under this label, with the row's digest. */
export const isTextStored = (
  view: View, label: string,
  made: { readonly artifact_id: string, readonly payload_sha256: string },
): boolean => {
  const row = view.get(collections.artifacts, made.artifact_id)
  return row?.label === label && row.ref.sha256 === made.payload_sha256
}
