/** The ids of the screenshot source that may be given in short; its rows have no owner. */
import { lookUp, rowsUnder } from '../state/indexes.js'
import { sharedIds, type IdKind } from '../governance/short-ids.js'
import { digestCollections, episodesById, episodesByTail } from './digest/digest-rows.js'
import { observationsByTail, shotCollections } from './observations/observation-rows.js'

/** Observations. */
export const observationIds = sharedIds(
  'obs', shotCollections.observations, observationsByTail)

/** The same where a path may stand instead. */
export const namedObservationIds: IdKind = { ...observationIds, typed: true }

/** Digests, which lie under the key of their window. */
export const digestIds: IdKind = {
  prefix: 'epi',
  endingWith: (view, _, tail) =>
    rowsUnder(view, digestCollections.episodes, episodesByTail, { under: [tail] })
      .map(({ doc }) => doc.episode_id),
  beginningWith: (view, _, begins, limit) =>
    lookUp(view, digestCollections.episodes, episodesById, { begins, limit })
      .map(({ key: [id = ''] }) => id),
}
