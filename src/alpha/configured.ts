import { fail, type SallyportError } from '../base/errors.js'
import type { View } from '../state/types.js'
import type { AlphaContext } from './context.js'
import { alphaFacts } from './facts.js'
import { alphaReasonOf, alphaReasons, type AlphaReasonCode } from './projection.js'
import type { AlphaTextSetup } from './setup.js'

/** Reasons that the operator's own consent or switch can mend: exit 4, the others need a look. */
const consentReasons = new Set<AlphaReasonCode>([
  'route_disabled', 'policy_revoked', 'save_interrupted', 'save_in_progress',
  'consent_not_current',
])

const refusal = (reason: AlphaReasonCode): SallyportError => {
  const make = consentReasons.has(reason) ? fail.unauthorized : fail.blocked
  return make('alpha_not_configured', 'The text capability may not be used now.', {
    reason, next: alphaReasons[reason].text,
  })
}

/** The setup, if the route's status is `configured`; else throws with the read's reason. */
export const requireConfigured = (ctx: AlphaContext, view: View): AlphaTextSetup => {
  const facts = alphaFacts(ctx.gov, view, ctx.provider)
  if (facts.setup === null) {
    throw fail.unauthorized('alpha_not_set_up', 'The text capability is not set up.', {
      reason: 'not_set_up', next: 'Run: sallyport alpha setup',
    })
  }
  const reason = alphaReasonOf(facts, facts.setup)
  if (reason !== null) throw refusal(reason)
  return facts.setup
}
