/** What of the text route stands blocked until a person acts; money and tasks are told besides. */
import { nextStepsOf } from '../base/next-step.js'
import { deploymentProfile } from '../governance/profile.js'
import type { FindWaiting } from '../governance/waiting.js'
import { alphaFacts, alphaReasonOf, alphaWordsOf } from './readiness.js'

/** Why nothing may be asked, by the reason that the status tells; of one route, one at most. */
export const alphaWaiting: FindWaiting = ({ gov, view, session }) => {
  const owner = session?.principal.principal_id ?? null
  const facts = alphaFacts(gov, view, deploymentProfile(gov.store).provider, owner)
  const reason = facts.setup === null ? null : alphaReasonOf(facts, facts.setup)
  // What every route stands still for is told once, as the policy's.
  if (reason === null || reason === facts.policy.block) return []
  const { status, text } = alphaWordsOf(reason, facts)
  if (status !== 'blocked') return []
  const [first] = nextStepsOf(text)
  return [{
    what: reason.startsWith('consent_') ? 'consent' : 'capability', count: 1,
    text: `alpha is blocked (${reason}). ${text}`,
    command: first?.command ?? 'sallyport alpha show',
  }]
}
