/**
 * Which images a reanalysis of many is about, as of now: it is asked when they are chosen and
 * again before each is claimed. Pure.
 */
import type { AnalysisStatus, ReanalyzeGroup } from '../constants.js'
import { classificationNow, statusNow, type CurrentFacts } from '../observations/as-of-now.js'
import type { CountKey } from '../observations/observation-rows.js'
import { unsettled } from '../observations/unsettled.js'

const statusOfGroup: Readonly<Record<ReanalyzeGroup, AnalysisStatus>> = {
  blocked: 'blocked', failed: 'failed', needs: 'needs_reanalysis',
}

/** Whether a group has these images in it; those that are held for a later one are in none. */
export const isOfGroup = (key: CountKey, now: CurrentFacts, group: ReanalyzeGroup): boolean =>
  statusNow(key, now) === statusOfGroup[group]
  && classificationNow(key, now) === null && key.reason !== unsettled
