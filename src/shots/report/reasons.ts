/**
 * Why observations of a report are not analysed, and what of it waits for a person. Blocked ones
 * are told by what stands in their way now, failed ones by what their call came to; a reason is
 * told with what takes it away.
 */
import type { ScreenMoneyDue, ScreenReason } from '../../observations/types.js'
import {
  overrunsToReview, unknownReservations,
} from '../../governance/ledger/find-reservation.js'
import type { View } from '../../state/types.js'
import { blockedNext, blockedRowReader, reasonGone } from '../analysis/blocked.js'
import { notRecorded, ReasonCounts } from '../analysis/reason-counts.js'
import type { ShotsContext } from '../context.js'
import { disputedOf } from '../disputed.js'
import { gateTextOf, routeStatusOf } from '../gates.js'
import { dueFactsOf } from '../money.js'
import type { Observation } from '../observations/observation-rows.js'
import { failedNext, waitsForPerson } from '../waiting.js'

const blockedText = (reason: string): string | null => (reason === reasonGone
  ? 'Nothing stands in their way any more.' : gateTextOf(reason)?.text ?? null)

const failedReasons = (
  ctx: ShotsContext, view: View, rows: readonly Observation[],
): ScreenReason[] => {
  const nextOf = failedNext(ctx, view)
  const found = new Map<string, ScreenReason>()
  for (const row of rows) {
    const { analysis_status: status, analyzer } = row
    if (status !== 'failed') continue
    const reason = analyzer.reason ?? notRecorded
    const told = nextOf(row)
    const key = `${reason} ${told.next}`
    const before = found.get(key)
    found.set(key, {
      status, reason, count: (before?.count ?? 0) + 1, text: before?.text ?? analyzer.detail,
      ...told,
    })
  }
  return [...found.values()]
}

/** Why these rows are blocked or failed, most first. */
export const reasonsFor = (
  ctx: ShotsContext, view: View, rows: readonly Observation[],
): ScreenReason[] => {
  const reasonOf = blockedRowReader(ctx, view, routeStatusOf(ctx, view))
  const blocked = new ReasonCounts()
  const disputed = disputedOf(ctx, view)
  const isWaiting = waitsForPerson(ctx, view, disputed)
  for (const row of rows) if (row.analysis_status === 'blocked') blocked.add(reasonOf(row), 1)
  return [
    ...failedReasons(ctx, view, rows),
    ...blocked.list().map(({ reason, count }): ScreenReason => ({
      status: 'blocked', reason, count, text: blockedText(reason),
      next: blockedNext(reason, disputed),
      needsPerson: isWaiting(reason),
    })),
  ].sort((a, b) => b.count - a.count)
}

/** Calls for these rows whose charges are open, whatever became of the image since. */
const openCalls = (view: View, rows: readonly Observation[]): readonly string[] => {
  const ids = new Set(rows.map((row) => row.observation_id))
  return [...unknownReservations(view), ...overrunsToReview(view)]
    .filter(({ subject }) => subject !== undefined && ids.has(subject))
    .map(({ operation_id: id }) => id)
}

/** What the calls of these rows leave to a person; each call counts once. */
export const moneyDueFor = (view: View, rows: readonly Observation[]): ScreenMoneyDue => {
  const ids = new Set([
    ...rows.filter((row) => row.analysis_status === 'failed')
      .map((row) => row.analyzer.operation_id),
    ...openCalls(view, rows),
  ])
  const due = [...ids].map((id) => dueFactsOf(view, id))
  const unknown = due.filter((one) => one.due === 'settle')
  return {
    unknownCharges: unknown.length,
    heldMicrousd: unknown.reduce((sum, one) => sum + (one.held_microusd ?? 0), 0),
    overruns: due.filter((one) => one.due === 'review').length,
  }
}
