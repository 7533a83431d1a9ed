/**
 * The order in which waiting images are taken up: those of the newest day first, of each day the
 * oldest first. After days away today is described before what waited, and what waited follows.
 */
import { isoWithin } from '../../base/calendar.js'
import { msFromIso } from '../../base/clock.js'
import { startOfDay, timeZoneOf, zoneOf } from '../../observations/zone.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { findObservations, takeObservations, type ObservationFilter } from './find.js'
import type { Observation } from './observation-rows.js'

/** Observations that are looked for, in that order; days are those of the zone of this process. */
export function* newestDayFirst(
  { env }: Pick<ShotsContext, 'env'>, view: View,
  filter: Pick<ObservationFilter, 'statuses' | 'folderDigest' | 'meant'>,
): Generator<Observation, void, undefined> {
  const zone = zoneOf(timeZoneOf(env))
  for (let days: ObservationFilter = filter; ;) {
    const [newest] = takeObservations(view, { ...days, newestFirst: true }, 1)
    if (newest === undefined) return
    const { captured_at: at } = newest
    const atMs = msFromIso(at)
    // Where clocks go back over midnight, and before the year 1, a day may begin behind its images.
    const since = isoWithin(Math.min(startOfDay(zone, zone.at(at).day) ?? atMs, atMs))
    yield* findObservations(view, { ...days, since })
    days = { ...filter, until: since }
  }
}
