/** Stored payloads, opened. */
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { analysisSchemaVersion } from '../constants.js'
import type { ShotsContext } from '../context.js'
import type { Observation } from '../observations/rows.js'
import { openPayload } from '../observations/show.js'
import { payloadField, type AnalysisPayload } from '../payload/schema.js'

/**
 * The payload of a row, or null where there is none or it is of another schema version. Throws what
 * the store throws, and `damaged` `payload_damaged` for one that does not have its own shape.
 */
export const readPayload = (
  ctx: ShotsContext, view: View, row: Observation,
): AnalysisPayload | null => {
  if (row.payload?.schema_version !== analysisSchemaVersion) return null
  const parsed = v.safeParse(payloadField.shape, openPayload(ctx, view, row.payload))
  if (parsed.success) return parsed.output
  throw fail.damaged('payload_damaged', 'The stored analysis is not of its shape.', {
    next: 'Run: sallyport state check', details: { observation_id: row.observation_id },
  })
}
