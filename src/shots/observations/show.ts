import { fail } from '../../base/errors.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from './as-of-now.js'
import { observationFactsOf, type ObservationFacts } from './facts.js'
import { shotCollections, type Observation, type PayloadRef } from './rows.js'

const payloadBytesMax = 1_048_576

/** The row of an id. Throws `not_found` `observation_not_found`. */
export const requireObservation = (view: View, id: string): Observation => {
  const row = view.get(shotCollections.observations, id)
  if (row === undefined) {
    throw fail.notFound('observation_not_found', 'There is no such observation.', {
      next: 'List them with: sallyport shots list',
    })
  }
  return row
}

/** The local image metadata analysis (S-181, S-182). Opens no socket, changes no byte. */
export const showObservation = (ctx: ShotsContext, view: View, id: string): ObservationFacts =>
  observationFactsOf(requireObservation(view, id), currentFacts(ctx, view))

/** Opens a stored analysis. Throws what the store throws; `damaged` for anything but an object. */
export const openPayload = (
  ctx: ShotsContext, view: View, payload: PayloadRef,
): Record<string, unknown> => {
  const bytes = readArtifact(ctx.gov, view, payload.artifact_id, shotLabels.payload)
  const value = parseStrictJson(bytes, { bytesMax: payloadBytesMax, depthMax: 16 })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw fail.damaged('payload_damaged', 'The stored analysis is not of its shape.', {
    next: 'Run: sallyport state check',
  })
}
