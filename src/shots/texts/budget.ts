import type { ScreenSpendInput } from '../../observations/types.js'
import type { View } from '../../state/types.js'
import { dayStatus, requireBudget } from '../budget.js'
import type { ShotsContext } from '../context.js'

/** The one place where a text asks the budget of the rolling day. */
export const requireTextBudget = (ctx: ShotsContext, view: View, boundMicrousd: number): void =>
  requireBudget(view, ctx.gov.clock.wallMs(), boundMicrousd)

/** Spend against the budget over the rolling day. */
export const spendOfDay = (ctx: ShotsContext, view: View): ScreenSpendInput | null => {
  const { settledMicrousd, ...standing } = dayStatus(view, ctx.gov.clock.wallMs())
  return { ...standing, spentMicrousd: settledMicrousd }
}
