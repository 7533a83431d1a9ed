import { fail } from '../../base/errors.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { readRegistered } from '../../governance/artifacts.js'
import { collections, type ArtifactRow } from '../../governance/rows.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import type { ShotsContext } from '../context.js'

const payloadBytesMax = 1_048_576

/**
 * Opens a stored analysis, of whatever schema version it is. Throws what the store throws;
 * `damaged` `payload_damaged` for anything but an object.
 */
export const openPayload = (
  ctx: ShotsContext, view: View, payload: { readonly artifact_id: string },
): Readonly<Record<string, unknown>> =>
  openRegistered(ctx, view.get(collections.artifacts, payload.artifact_id))

/** The same of the row of its artifact, for whoever opens many; undefined: there is none. */
export const openRegistered = (
  ctx: ShotsContext, row: ArtifactRow | undefined,
): Readonly<Record<string, unknown>> => {
  const bytes = readRegistered(ctx.gov, row, shotLabels.payload)
  const value = parseStrictJson(bytes, { bytesMax: payloadBytesMax, depthMax: 16 })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>
  }
  throw fail.damaged('payload_damaged', 'The stored analysis is not of its shape.', {
    next: 'Run `sallyport state check`.',
  })
}
