import type { View } from '../../state/types.js'
import { shotLimits, type AnalysisStatus } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { listedOf, type Listed } from './facts.js'
import { currentFacts, statusNow } from './as-of-now.js'
import { countObservations, takeObservations, type ObservationFilter } from './find.js'
import { countedBeyondMax, type Page } from './page.js'
import { requireObservation } from './show.js'

interface ListQuery {
  /** Status as of now. */
  readonly status?: AnalysisStatus | undefined
  /** ISO text: captured at or after. */
  readonly since?: string | undefined
  readonly limit?: number | undefined
  /** Archived ones too. */
  readonly archived?: boolean | undefined
  /** Only those behind this one: captured before it. */
  readonly after?: string | undefined
}

/**
 * Observations of every folder, newest capture first. Opens no socket, changes no byte. Throws
 * `not_found` `observation_not_found` where there is none to go on behind.
 */
export const listObservations = (
  ctx: ShotsContext, view: View, query: ListQuery,
): Page<Listed> => {
  const { status, since, limit = shotLimits.listItemsDefault, archived = false, after } = query
  const now = currentFacts(ctx, view)
  const filter: ObservationFilter = {
    archived,
    ...(since === undefined ? {} : { since }),
    ...(after === undefined ? {} : { behind: requireObservation(view, after) }),
    ...(status === undefined ? {} : { meant: (key) => statusNow(key, now) === status }),
  }
  const most = limit + countedBeyondMax
  const total = countObservations(view, filter, most)
  return {
    rows: takeObservations(view, { ...filter, newestFirst: true }, limit)
      .map((row) => listedOf(row, now)),
    total: Math.min(total, most),
    counted: total <= most,
  }
}
