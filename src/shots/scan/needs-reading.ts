/** Which files are read again although they have not changed, by what their rows lead to. Pure. */
import type { Observation, SeenFile } from '../observations/observation-rows.js'

/**
 * Whether an observation may stand for look-alikes: its picture can still be looked at, or was. One
 * whose file is gone before it was ever analysed would hide them all.
 */
export const standsForOthers = (
  row: Pick<Observation, 'archived_at' | 'classification' | 'payload'>,
): boolean =>
  row.archived_at === null && (row.classification !== 'source_missing' || row.payload !== null)

/**
 * Whether a known file must be read again: its observation was missed there or archived, the one
 * that it looks like no longer stands for it, or it led to one of another folder that was never
 * analysed, as earlier versions let it.
 */
export const needsReading = (
  seen: Pick<SeenFile, 'outcome' | 'root_digest'>, observation: Observation | undefined,
): boolean => {
  if (observation === undefined) return false
  if (seen.outcome === 'suppressed') return !standsForOthers(observation)
  if (observation.root_digest !== seen.root_digest && observation.payload === null) return true
  return observation.archived_at !== null || observation.classification === 'source_missing'
}
