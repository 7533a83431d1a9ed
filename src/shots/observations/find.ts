/**
 * Finding observations by time and by what is counted of them, by way of the calendar: the counter
 * rows say which groups there are, an index has each group in the order of capture, and no reader
 * loads what it does not look for.
 */
import { documents } from '../../state/each.js'
import { lookUp, rowsOfEntries, walkIndex, type Found } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import type { AnalysisStatus } from '../constants.js'
import {
  groupPart, observationsByGroup, shotCollections as c, type CountKey, type Observation,
} from './observation-rows.js'

/** What is looked for; times are ISO text, `since` included, `until` excluded. */
export interface ObservationFilter {
  readonly since?: string
  readonly until?: string
  /** Only rows whose stored status is one of these. */
  readonly statuses?: readonly AnalysisStatus[]
  /** Only rows of this folder. */
  readonly folderDigest?: string
  /** Only rows of which this holds. */
  readonly meant?: (key: CountKey) => boolean
  /** Archived rows too. */
  readonly archived?: boolean
  /** Newest first; otherwise oldest first. */
  readonly newestFirst?: boolean
  /** Only rows that come behind this one in a list with the newest first. */
  readonly behind?: Behind
}

/** A row that a list goes on behind, whatever became of it meanwhile. */
export type Behind = Pick<Observation, 'captured_at' | 'observation_id'>

const isMeant = (key: CountKey, filter: ObservationFilter): boolean =>
  (filter.statuses === undefined || filter.statuses.includes(key.analysis_status))
  && (filter.folderDigest === undefined || filter.folderDigest === key.root_digest)
  && (filter.archived === true || !key.archived)
  && (filter.meant === undefined || filter.meant(key))

/** Groups that hold what is looked for, and how many rows each has. */
const groupsOf = (
  view: View, filter: ObservationFilter,
): readonly { readonly part: string; readonly count: number }[] =>
  view.all(c.counts)
    .filter(({ doc }) => isMeant(doc, filter))
    .map(({ id, doc: { count } }) => ({ part: groupPart(id), count }))

const timeOf = ({ key: [, time = ''] }: Found): string => time

/** Comes behind every id of the same time. */
const allOf = (time: string): string => `${time}~`

const isBehind = (entry: Found, { captured_at: at, observation_id: id }: Behind): boolean =>
  timeOf(entry) === at ? entry.id < id : timeOf(entry) < at

/** Entries of one group in the asked order, within the period. */
function* entriesOf(
  view: View, part: string, { since, until, behind, newestFirst = false }: ObservationFilter,
): Generator<Found, void, undefined> {
  const before = until ?? (behind === undefined ? undefined : allOf(behind.captured_at))
  const from = newestFirst ? before : since
  const entries = walkIndex(view, c.observations, observationsByGroup, {
    under: [part], from, reverse: newestFirst,
  })
  for (const entry of entries) {
    const time = timeOf(entry)
    const isOver = newestFirst ? since !== undefined && time < since
      : until !== undefined && time >= until
    if (isOver) return
    if (behind === undefined || isBehind(entry, behind)) yield entry
  }
}

interface Head {
  entry: Found
  readonly rest: Iterator<Found, void>
}

/** Whether an entry comes before another, oldest first; like times in the order of ids. */
const isBefore = (a: Found, b: Found): boolean =>
  timeOf(a) === timeOf(b) ? a.id < b.id : timeOf(a) < timeOf(b)

/** Entries of all groups in the asked order. */
function* merged(
  groups: readonly Iterator<Found, void>[], newestFirst: boolean,
): Generator<Found, void, undefined> {
  const heads: Head[] = []
  for (const rest of groups) {
    const next = rest.next()
    if (next.done !== true) heads.push({ entry: next.value, rest })
  }
  for (;;) {
    const [first, ...others] = heads
    if (first === undefined) return
    const best = others.reduce((found, head) =>
      (isBefore(head.entry, found.entry) !== newestFirst ? head : found), first)
    yield best.entry
    const next = best.rest.next()
    if (next.done === true) heads.splice(heads.indexOf(best), 1)
    else best.entry = next.value
  }
}

/**
 * Observations by capture time, some at a time, so that a caller may stop early; `wanted` says how
 * many it will ask for, where it knows.
 */
export function* findObservations(
  view: View, filter: ObservationFilter, wanted?: number,
): Generator<Observation, void, undefined> {
  const groups = groupsOf(view, filter).map(({ part }) => entriesOf(view, part, filter))
  const entries = merged(groups, filter.newestFirst === true)
  yield* documents(rowsOfEntries(view, c.observations, entries, wanted))
}

/**
 * Some of them, newest first. Before each `goesOn` is asked with how many were read: it takes a
 * short time however many there are.
 */
export function* sampleObservations(
  view: View, filter: ObservationFilter, goesOn: (looks: number) => boolean,
): Generator<Observation, void, undefined> {
  let looks = 0
  for (const row of findObservations(view, { ...filter, newestFirst: true })) {
    if (!goesOn(looks)) return
    looks += 1
    yield row
  }
}

/** At most `limit` of them. */
export const takeObservations = (
  view: View, filter: ObservationFilter, limit: number,
): Observation[] => {
  const found: Observation[] = []
  if (limit <= 0) return found
  for (const row of findObservations(view, filter, limit)) {
    found.push(row)
    if (found.length >= limit) break
  }
  return found
}

const countIn = (
  view: View, part: string, { since, behind }: ObservationFilter, most: number,
): number => {
  if (behind === undefined) {
    return lookUp(view, c.observations, observationsByGroup, {
      under: [part], from: since, limit: most + 1,
    }).length
  }
  const filter = { behind, newestFirst: true, ...(since === undefined ? {} : { since }) }
  const entries = entriesOf(view, part, filter)
  let total = 0
  while (total <= most && entries.next().done !== true) total += 1
  return total
}

/** How many there are from a time on; counting stops above `most`. Reads no observation. */
export const countObservations = (
  view: View, filter: Omit<ObservationFilter, 'until'>, most: number,
): number => {
  let total = 0
  for (const { part, count } of groupsOf(view, filter)) {
    if (total > most) break
    total += filter.since === undefined && filter.behind === undefined
      ? count : countIn(view, part, filter, most - total)
  }
  return Math.min(total, most + 1)
}
