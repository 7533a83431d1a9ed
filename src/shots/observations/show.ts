import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { openPayload } from '../payload/read-payload.js'
import { currentFacts } from './as-of-now.js'
import type { ShownObservation } from './observations-contract.js'
import { observationFactsOf } from './facts.js'
import { shotCollections, type Observation } from './observation-rows.js'

/** The row of an id. Throws `not_found` `observation_not_found`. */
export const requireObservation = (view: View, id: string): Observation => {
  const row = view.get(shotCollections.observations, id)
  if (row === undefined) {
    throw fail.notFound('observation_not_found', 'There is no such observation.', {
      next: 'List them with: `sallyport shots list`.',
    })
  }
  return row
}

/**
 * The local image metadata analysis (S-181, S-182), with what the model wrote where `analysis` asks
 * for it. Opens no socket, changes no byte. Throws `not_found` `observation_not_found` or
 * `analysis_not_found`, and as `openPayload`.
 */
export const showObservation = (
  ctx: ShotsContext, view: View, id: string, analysis = false,
): ShownObservation => {
  const row = requireObservation(view, id)
  const facts = observationFactsOf(row, currentFacts(ctx, view))
  if (!analysis) return { facts, payload: null }
  if (row.payload === null) {
    throw fail.notFound('analysis_not_found', 'This observation has no analysis.', {
      next: `See why with \`sallyport shots show ${row.observation_id}\`.`,
    })
  }
  return { facts, payload: openPayload(ctx, view, row.payload) }
}
