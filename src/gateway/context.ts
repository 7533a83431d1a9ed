import type { ContactContext } from '../contact/order.js'
import type { View } from '../state/types.js'
import type { GatewayPlace, GatewayPurpose } from './constants.js'

/** What the use cases of this route work with. */
export interface GatewayContext extends ContactContext {
  readonly place: GatewayPlace
  /**
   * What an operator's budget says of a call, asked in its claiming record; throws `budget`. Absent
   * where the caller asks a budget of its own.
   */
  requireBudget?(view: View, call: {
    readonly purpose: GatewayPurpose; readonly boundMicrousd: number; readonly nowMs: number
  }): void
}
