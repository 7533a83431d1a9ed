import type { ScreenSpendInput } from '../../observations/types.js'
import type { View } from '../../state/types.js'
import { dayStatus } from '../budget.js'
import type { ShotsContext } from '../context.js'

/** Spend against the budget over the rolling day. */
export const spendOfDay = (ctx: ShotsContext, view: View): ScreenSpendInput | null => {
  const { settledMicrousd, ...standing } = dayStatus(view, ctx.gov.clock.wallMs())
  return { ...standing, spentMicrousd: settledMicrousd }
}
