import type { Gov } from '../governance/gov.js'
import type { HttpsClient } from '../net/types.js'
import type { GatewayPlace } from './constants.js'

/** What the use cases of this route work with. */
export interface GatewayContext {
  readonly gov: Gov
  readonly place: GatewayPlace
  /**
   * The one HTTPS client, made at first use: reads never load it. Throws `rejected` where this
   * process may contact nobody; a use case asks before it claims anything.
   */
  client(): Promise<HttpsClient>
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
}
