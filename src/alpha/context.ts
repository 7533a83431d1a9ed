import type { ContactContext } from '../contact/order.js'
import type { AlphaProvider } from './constants.js'

/** What the use cases of this capability work with. */
export interface AlphaContext extends ContactContext {
  /** The sealed deployment's one provider. */
  readonly provider: AlphaProvider
}
