import type { Gov } from '../governance/context.js'
import type { HttpsClient } from '../net/types.js'
import type { AlphaProvider } from './constants.js'

/** What the use cases of this capability work with. */
export interface AlphaContext {
  readonly gov: Gov
  /** The sealed deployment's one provider. */
  readonly provider: AlphaProvider
  /**
   * The one HTTPS client, made at first use: reads never load it. Throws `rejected` where this
   * process may contact nobody; a use case asks before it claims anything.
   */
  client(): Promise<HttpsClient>
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
}
