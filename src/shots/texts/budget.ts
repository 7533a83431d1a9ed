import type { ScreenSpendInput } from '../../observations/types.js'
import type { SlotSetup } from '../../gateway/setup.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'

/** The one place where a text asks the budget of the rolling day. */
export const requireTextBudget = (_ctx: ShotsContext, _view: View, _setup: SlotSetup): void => {
  // Joined with the budget of images.
}

/** Spend against the budget over the rolling day. */
export const spendOfDay = (_ctx: ShotsContext, _view: View): ScreenSpendInput | null => null
