/** Which observations a text is made from, and what says that they changed. */
import type { View } from '../../state/types.js'
import { findObservations } from '../observations/find.js'
import type { Observation, PayloadRef } from '../observations/observation-rows.js'

/** An observation whose analysis may be used. */
export type Analysed = Observation & { readonly payload: PayloadRef }

/**
 * Whether a text that rests on it may be told: of an image that is neither missing, stale nor
 * archived (S-166), whatever a later request for it came to. Who named a device let its pictures be
 * analysed; what was written of them goes to nobody else.
 */
export const mayBeTold = (row: Observation): row is Analysed =>
  row.edge === undefined && row.payload !== null && row.classification === null
  && row.archived_at === null

/** Whether a digest or a conclusion may be made from it: its analysis stands, too. */
export const isSource = (row: Observation): row is Analysed => mayBeTold(row)
  && (row.analysis_status === 'succeeded' || row.analysis_status === 'needs_reanalysis')

/** The sources of a span by capture time, oldest first; half-open. */
export const sourcesBetween = (view: View, since: string, until: string): Analysed[] => {
  const found: Analysed[] = []
  const statuses = ['succeeded', 'needs_reanalysis'] as const
  for (const row of findObservations(view, { since, until, statuses })) {
    if (isSource(row)) found.push(row)
  }
  return found
}

/** Ids and payload digests: what a text depends on (S-105, S-106). */
export const versionsOf = (sources: readonly Analysed[]): readonly (readonly [string, string])[] =>
  sources.map((row) => [row.observation_id, row.payload.sha256] as const)
