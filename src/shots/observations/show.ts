import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from './as-of-now.js'
import { observationFactsOf, type ObservationFacts } from './facts.js'
import { shotCollections, type Observation } from './rows.js'

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
