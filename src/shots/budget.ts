/**
 * The budget of the rolling day: money and requests, over everything that this source pays for
 * (images, digests, conclusions and the proofs of their slots; decision of the operator, not of the
 * gateway). A call is refused before it is claimed when its bound would not fit.
 */
import { isoFromMs } from '../base/clock.js'
import { fail } from '../base/errors.js'
import { claimCollection, claimsByOperation } from '../gateway/call/claims.js'
import type { GatewayPurpose } from '../gateway/constants.js'
import { spendByHour, spendOfDay, type SpendOfHour } from '../gateway/call/spend.js'
import { reviewFirst } from '../governance/ledger/due.js'
import { overrunsToReview } from '../governance/ledger/find-reservation.js'
import { rowsUnder } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { belowBound, isBelowBound, usedUp } from './gates.js'
import { savedSettings, type SavedShotSettings } from './source/settings.js'

/** Purposes whose calls count; the proof of a slot is a call of its purpose. */
const budgetedPurposes: ReadonlySet<GatewayPurpose> =
  new Set<GatewayPurpose>(['gateway.vision', 'gateway.digest', 'gateway.report'])

/** Where the budget stands. */
export interface BudgetStatus {
  /** Beginning of the day that counts: a whole hour, 24 to 25 hours ago. */
  readonly since: string
  readonly budgetMicrousd: number | null
  readonly budgetRequests: number | null
  readonly settledMicrousd: number
  /** Bounds of calls under way or whose charge is not known. */
  readonly heldMicrousd: number
  readonly requests: number
}

/** Reads where the budget stands, from the sums of at most 25 hours. */
export const budgetStatus = (
  view: View, nowMs: number, saved: SavedShotSettings = savedSettings(view),
): BudgetStatus => {
  const since = isoFromMs(nowMs - 24 * 3_600_000)
  return {
    since: `${since.slice(0, since.indexOf('T') + 3)}:00:00.000Z`,
    budgetMicrousd: saved.budget_microusd,
    budgetRequests: saved.budget_requests,
    ...spendOfDay(view, budgetedPurposes, nowMs),
  }
}

/** What was spent in each hour of a period, as far as the sums of hours are kept. */
export const spendOfHours = (
  view: View, period: { readonly since: string; readonly until: string },
): readonly SpendOfHour[] => spendByHour(view, budgetedPurposes, period)

/** Whether a call counts in the budget of the day since a time, ISO. */
const countsSince = (view: View, operationId: string, since: string): boolean => {
  const [found] = rowsUnder(view, claimCollection, claimsByOperation, { under: [operationId] })
  return found !== undefined && budgetedPurposes.has(found.doc.purpose)
    && found.doc.claimed_at >= since
}

/**
 * Charges above their bounds that wait for a review and count whole in the budget of the day: one
 * of them may use it up.
 */
export const disputedCharges = (view: View, nowMs: number): readonly string[] => {
  const { since } = budgetStatus(view, nowMs)
  return overrunsToReview(view).map(({ operation_id: id }) => id)
    .filter((id) => countsSince(view, id, since))
}

/** Where the budget stands, and how many charges above their bounds count whole in it. */
export interface DayStatus extends BudgetStatus {
  readonly disputedCharges: number
}

/** What was spent today: the one reader of it behind every face. */
export const dayStatus = (
  view: View, nowMs: number, saved: SavedShotSettings = savedSettings(view),
): DayStatus => ({
  ...budgetStatus(view, nowMs, saved), disputedCharges: disputedCharges(view, nowMs).length,
})

/** How many more calls of such a bound fit; 0 where a budget is not set. */
export const callsLeft = (standing: BudgetStatus, boundMicrousd: number): number => {
  const { budgetMicrousd, budgetRequests, settledMicrousd, heldMicrousd, requests } = standing
  if (budgetMicrousd === null || budgetRequests === null) return 0
  const money = budgetMicrousd - settledMicrousd - heldMicrousd
  return Math.max(0, Math.min(Math.floor(money / boundMicrousd), budgetRequests - requests))
}

const nextOfRefused = (disputed: readonly string[]): string => (disputed.length === 0
  ? 'Nothing was sent. See `sallyport shots status`.'
  : `Nothing was sent. ${reviewFirst(disputed)}${usedUp.next}`)

/**
 * Throws `budget` `budget_exhausted` when a call of this bound does not fit (S-016, S-205), and
 * `blocked` `budget_below_bound` when none ever would.
 */
export const requireBudget = (view: View, nowMs: number, boundMicrousd: number): void => {
  const standing = budgetStatus(view, nowMs)
  if (callsLeft(standing, boundMicrousd) > 0) return
  const { budgetMicrousd } = standing
  if (isBelowBound(budgetMicrousd, boundMicrousd)) {
    throw fail.blocked('budget_below_bound', belowBound.text, {
      reason: 'budget_below_bound', next: belowBound.next,
      details: { budget_microusd: budgetMicrousd, bound_microusd: boundMicrousd },
    })
  }
  throw fail.budget('budget_exhausted', 'The budget of the last 24 hours is used up.', {
    reason: 'budget_exhausted', next: nextOfRefused(disputedCharges(view, nowMs)),
    details: {
      budget_microusd: standing.budgetMicrousd, budget_requests: standing.budgetRequests,
      settled_microusd: standing.settledMicrousd, held_microusd: standing.heldMicrousd,
      requests: standing.requests, bound_microusd: boundMicrousd,
    },
  })
}

/** A call that is about to be claimed, as the route knows it. */
interface ClaimedCall {
  readonly purpose: GatewayPurpose
  readonly boundMicrousd: number
  readonly nowMs: number
}

/**
 * Asked in the record that claims a call. Images and texts have a budget that is set, by their
 * gates; for a proof without one the operator's word is enough.
 */
export const requireBudgetIfSet = (view: View, call: ClaimedCall): void => {
  const { budget_microusd: money, budget_requests: requests } = savedSettings(view)
  if (!budgetedPurposes.has(call.purpose) || money === null || requests === null) return
  requireBudget(view, call.nowMs, call.boundMicrousd)
}
