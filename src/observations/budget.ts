/** How the spend of a day stands against its budget. */
import type { ScreenReport } from './report.js'
import { countText } from './words.js'

/** Money and requests of a day with their budgets. */
export type ReportSpend = NonNullable<ScreenReport['course']['spend']>

/** From this share of the budget on it is told that little is left. */
const nearShare = 0.9

/** Where one measure stands. */
interface BudgetStand {
  readonly state: 'no_budget' | 'within' | 'near' | 'over'
  /** Micro-USD or requests: above the budget where it is over, else what is left of it. */
  readonly rest: number
}

const standOf = (used: number, budget: number | null): BudgetStand => {
  if (budget === null) return { state: 'no_budget', rest: 0 }
  if (used > budget) return { state: 'over', rest: used - budget }
  const near = used > 0 && used >= budget * nearShare
  return { state: near ? 'near' : 'within', rest: budget - used }
}

type Money = Pick<ReportSpend, 'budget_microusd' | 'spent_microusd' | 'held_microusd'>

/** Money that was spent or is held, against its budget. */
export const moneyStand = (spend: Money): BudgetStand =>
  standOf(spend.spent_microusd + spend.held_microusd, spend.budget_microusd)

/**
 * By how much the budget of a day is overspent, micro-USD; null where it is not, and where a charge
 * is disputed that may have used it up: nobody raises a budget for that one.
 */
export const overspentBy = (
  spend: Money & Pick<ReportSpend, 'disputed_charges'>,
): number | null => {
  const { state, rest } = moneyStand(spend)
  return state === 'over' && spend.disputed_charges === 0 ? rest : null
}

/** Requests against theirs. */
export const requestStand = (spend: ReportSpend): BudgetStand =>
  standOf(spend.requests, spend.budget_requests)

/** How many charges of the day are disputed, in words. */
export const disputedText = ({ disputed_charges: count }: ReportSpend): string =>
  `${countText(count, 'charge')} above ${count === 1 ? 'its bound' : 'their bounds'}, `
  + 'waiting for a review'
