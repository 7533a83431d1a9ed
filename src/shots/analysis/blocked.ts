/**
 * Why blocked images are not analysed, as of now. A row keeps the reason of the moment in which it
 * was blocked; what is told is what stands in its way today, so that nobody mends what is mended.
 */
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { classificationNow, currentFacts, rowClassificationNow } from '../observations/as-of-now.js'
import { sampleObservations, type ObservationFilter } from '../observations/find.js'
import { consentReaches, gateTextOf, standingOf } from '../gates.js'
import { shotCollections as c, type Observation } from '../observations/rows.js'
import type { BlockedReasons } from '../receipts/analysis.js'
import { lasting, stillHolds } from './restore.js'

/** Rows that are read for it at most; the first few are read however long they take. */
const looksMax = 1_000
const looksMin = 5
/** How long a job may look beyond them, in ms. */
const looksMsMax = 250
/** The same for a status, which many a prompt and script waits for. */
export const quickLooksMs = 15

/** What nothing stands in the way of any more: a later pass of the job takes it up. */
export const reasonGone = 'reason_gone'

const reasonReader = (ctx: ShotsContext, view: View): ((row: Observation) => string) => {
  const standing = standingOf(ctx, view)
  const { closed } = standing
  const holds = stillHolds(ctx, view, standing)
  return (row) => {
    const { reason } = row.analyzer
    if (reason !== null && lasting(reason)) return reason
    if (closed !== null) return closed
    if (reason !== null && holds(row)) return reason
    const { route } = standing
    return route === null || consentReaches(route.consent, row) ? reasonGone : 'before_consent'
  }
}

/** Which rows to look at, and for how many milliseconds. */
export interface BlockedLook extends Pick<ObservationFilter, 'since' | 'until'> {
  readonly msMax?: number
}

/** Why images of the current folder are blocked; with a period, those that were captured in it. */
export const blockedReasons = (
  ctx: ShotsContext, view: View, { msMax = looksMsMax, ...period }: BlockedLook = {},
): BlockedReasons => {
  const now = currentFacts(ctx, view)
  if (now.folderDigest === null) return []
  const reasonOf = reasonReader(ctx, view)
  const counts = new Map<string, number>()
  const filter: ObservationFilter = {
    ...period, statuses: ['blocked'], folderDigest: now.folderDigest,
  }
  const { clock } = ctx.gov
  const untilMs = clock.monotonicMs() + msMax
  const goesOn = (looks: number): boolean =>
    looks < looksMin || (looks < looksMax && clock.monotonicMs() < untilMs)
  for (const row of sampleObservations(view, filter, goesOn)) {
    if (rowClassificationNow(row, now) !== null) continue
    const reason = reasonOf(row)
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].map(([reason, count]) => ({ reason, count }))
    .sort((a, b) => b.count - a.count)
}

/** How many images of the current folder are blocked, from counters alone. */
export const blockedCount = (ctx: ShotsContext, view: View): number => {
  const now = currentFacts(ctx, view)
  return view.all(c.counts)
    .filter(({ doc }) => doc.root_digest === now.folderDigest && !doc.archived
      && doc.analysis_status === 'blocked' && classificationNow(doc, now) === null)
    .reduce((sum, { doc }) => sum + doc.count, 0)
}

/** What a person may do about a reason why images are blocked; never empty. */
export const blockedNext = (reason: string): string => {
  if (reason === reasonGone) return 'The next passes take them up: `sallyport shots analyze`.'
  return gateTextOf(reason)?.next ?? 'See `sallyport shots list --status blocked`.'
}
