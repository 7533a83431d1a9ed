import type { View } from '../../state/types.js'
import { shotLimits, type AnalysisStatus } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { currentFacts, rowStatusNow } from './as-of-now.js'
import { listedOf, type Listed } from './facts.js'
import { findObservations } from './find.js'
import { pageOf, type Page } from './page.js'

/** What is listed. */
export interface ListQuery {
  /** Status as of now. */
  readonly status?: AnalysisStatus | undefined
  /** ISO text: captured at or after. */
  readonly since?: string | undefined
  readonly limit?: number | undefined
  /** Archived ones too. */
  readonly archived?: boolean | undefined
}

/** A stored success may be old by now, so looking for either looks at both. */
const storedAs = (status: AnalysisStatus): readonly AnalysisStatus[] =>
  status === 'needs_reanalysis' ? ['needs_reanalysis', 'succeeded'] : [status]

/** Observations of every folder, newest capture first. Opens no socket, changes no byte. */
export const listObservations = (
  ctx: ShotsContext, view: View, query: ListQuery,
): Page<Listed> => {
  const { status, since, limit = shotLimits.listItemsDefault, archived = false } = query
  const now = currentFacts(ctx, view)
  const rows = findObservations(view, {
    newestFirst: true, archived,
    ...(since === undefined ? {} : { since }),
    ...(status === undefined ? {} : { statuses: storedAs(status) }),
  })
  const page = pageOf(
    rows, limit, (row) => status === undefined || rowStatusNow(row, now) === status)
  return { ...page, rows: page.rows.map((row) => listedOf(row, now)) }
}
