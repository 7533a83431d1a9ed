/** Finding observations by time and status, by way of the calendar: no reader loads all of them. */
import type { View } from '../../state/types.js'
import type { AnalysisStatus } from '../constants.js'
import { hourOf } from './observation-store.js'
import { shotCollections as c, type Observation, type ShotHour } from './rows.js'

/** What is looked for; times are ISO text, `since` included, `until` excluded. */
export interface ObservationFilter {
  readonly since?: string
  readonly until?: string
  /** Only rows whose stored status is one of these. */
  readonly statuses?: readonly AnalysisStatus[]
  /** Only rows of this folder. */
  readonly folderDigest?: string
  /** Archived rows too. */
  readonly archived?: boolean
  /** Newest first; otherwise oldest first. */
  readonly newestFirst?: boolean
}

const wanted = (hour: ShotHour, filter: ObservationFilter): boolean => {
  if (filter.since !== undefined && hour.hour < hourOf(filter.since)) return false
  if (filter.until !== undefined && hour.hour > hourOf(filter.until)) return false
  const { statuses } = filter
  if (statuses === undefined || filter.archived === true) return true
  return statuses.some((status) => (hour.statuses[status] ?? 0) > 0)
}

const matches = (row: Observation, filter: ObservationFilter): boolean =>
  (filter.since === undefined || row.captured_at >= filter.since)
  && (filter.until === undefined || row.captured_at < filter.until)
  && (filter.statuses === undefined || filter.statuses.includes(row.analysis_status))
  && (filter.folderDigest === undefined || row.root_digest === filter.folderDigest)
  && (filter.archived === true || row.archived_at === null)

function* ofHour(view: View, hour: ShotHour): Generator<Observation, void, undefined> {
  for (let page = 0; page < hour.pages; page += 1) {
    for (const id of view.get(c.hourPages, `${hour.hour}#${page}`)?.ids ?? []) {
      const row = view.get(c.observations, id)
      if (row !== undefined) yield row
    }
  }
}

const byTime = (a: Observation, b: Observation): number => {
  if (a.captured_at !== b.captured_at) return a.captured_at < b.captured_at ? -1 : 1
  return a.observation_id < b.observation_id ? -1 : 1
}

/** Observations by capture time, hour after hour, so that a caller may stop early. */
export function* findObservations(
  view: View, filter: ObservationFilter,
): Generator<Observation, void, undefined> {
  const hours = view.all(c.hours).map(({ doc }) => doc).filter((hour) => wanted(hour, filter))
  if (filter.newestFirst === true) hours.reverse()
  for (const hour of hours) {
    const rows = [...ofHour(view, hour)].filter((row) => matches(row, filter)).sort(byTime)
    if (filter.newestFirst === true) rows.reverse()
    yield* rows
  }
}

/**
 * Some of them, newest hours first and in no order within an hour. Before each row, matching or
 * not, `goesOn` is asked with how many were read: it takes a short time however many there are.
 */
export function* sampleObservations(
  view: View, filter: ObservationFilter, goesOn: (looks: number) => boolean,
): Generator<Observation, void, undefined> {
  const hours = view.all(c.hours).map(({ doc }) => doc).filter((hour) => wanted(hour, filter))
  let looks = 0
  for (const hour of hours.reverse()) {
    for (const row of ofHour(view, hour)) {
      if (!goesOn(looks)) return
      looks += 1
      if (matches(row, filter)) yield row
    }
  }
}

/** At most `limit` of them. */
export const takeObservations = (
  view: View, filter: ObservationFilter, limit: number,
): Observation[] => {
  const found: Observation[] = []
  for (const row of findObservations(view, filter)) {
    if (found.length >= limit) break
    found.push(row)
  }
  return found
}
