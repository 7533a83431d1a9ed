import { isGiverReason } from '../governance/judge/consent-facts.js'
import type { StatusLine } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import { deploymentProfile } from '../governance/profile.js'
import type { View } from '../state/types.js'
import { alphaFacts, alphaReasonOf, alphaWordsOf } from './readiness.js'

/** The capability in one line of `status`: the reason is the first that holds. */
export const alphaStatusLine = (gov: Gov, view: View): StatusLine => {
  const facts = alphaFacts(gov, view, deploymentProfile(gov.store).provider)
  if (facts.setup === null) return { status: 'disabled', reason_code: 'not_set_up' }
  const reason = alphaReasonOf(facts, facts.setup)
  if (reason === null) return { status: 'configured', reason_code: null }
  const { status, text } = alphaWordsOf(reason, facts)
  return { status, reason_code: reason, ...(isGiverReason(reason) ? { reason: text } : {}) }
}
