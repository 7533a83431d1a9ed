import type { Gov, Session } from '../governance/context.js'
import type { AlphaProvider } from './constants.js'
import { projectAlpha, type AlphaShow } from './projection.js'
import { alphaFacts } from './readiness.js'

/**
 * The configuration read of this route. It opens no socket and changes no byte; the session is
 * required so that nobody else learns of the set-up.
 */
export const showAlpha = (gov: Gov, session: Session, provider: AlphaProvider): AlphaShow =>
  projectAlpha(alphaFacts(gov, gov.store.read(), provider, session.principal.principal_id))
