import type { Gov } from '../governance/context.js'
import type { HttpsClient } from '../net/types.js'
import type { View } from '../state/types.js'
import type { GatewayPlace, GatewayPurpose } from './constants.js'

/** What the use cases of this route work with. */
export interface GatewayContext {
  readonly gov: Gov
  readonly place: GatewayPlace
  /**
   * The one HTTPS client, made at first use: reads never load it. Throws `rejected` where this
   * process may contact nobody; a use case asks before it claims anything.
   */
  client(): Promise<HttpsClient>
  /**
   * What an operator's budget says of a call, asked in its claiming record; throws `budget`. Absent
   * where the caller asks a budget of its own.
   */
  requireBudget?(view: View, call: {
    readonly purpose: GatewayPurpose; readonly boundMicrousd: number; readonly nowMs: number
  }): void
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
}
