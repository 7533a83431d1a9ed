/** Amounts in lists. */
import { moneyText } from '../base/money.js'
import type { View } from './output.js'

/** As people read it on a terminal; in a pipe the integer of micro-USD. `-` for none. */
export const amountCell = (view: Pick<View, 'terminal'>, microusd: number | null): string => {
  if (microusd === null) return '-'
  return view.terminal ? moneyText(microusd) : String(microusd)
}
