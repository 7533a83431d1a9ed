/** What of the model route stands blocked until a person acts; its money is told besides. */
import { nextStepsOf } from '../base/next-step.js'
import type { Gov } from '../governance/context.js'
import type { OwnWaiting } from '../governance/waiting.js'
import type { View } from '../state/types.js'
import {
  gatewayPurposes, slotOfPurpose, type GatewayPlace, type GatewayPurpose,
} from './constants.js'
import { gatewayFacts, gatewayReasonOf, gatewayWordsOf, type GatewayFacts } from './readiness.js'

const show = 'sallyport gateway show'

/**
 * Purposes of slots that are set whose consent has run out, or ended with a revoke of everything
 * or a save; one that was taken back by itself waits for nobody.
 */
const lapsedPurposes = ({ route, consents }: GatewayFacts): readonly GatewayPurpose[] =>
  gatewayPurposes.filter((purpose) => {
    const isSet = (route?.slots[slotOfPurpose[purpose]] ?? null) !== null
    const { lapse, newest } = consents[purpose]
    return isSet && (lapse === 'expired' || newest?.state === 'revoked'
      || newest?.state === 'cleared')
  })

/** Why nothing goes through, by the reason that the status tells; else slots without consent. */
export const gatewayWaiting = (
  gov: Gov, view: View, place: GatewayPlace,
): readonly OwnWaiting[] => {
  const facts = gatewayFacts(gov, view, place)
  const reason = facts.route === null ? null : gatewayReasonOf(facts, facts.route)
  if (reason === null) {
    return lapsedPurposes(facts).map((purpose) => ({
      what: 'consent', count: 1, command: `sallyport gateway setup --consent ${purpose}`,
      text: `The consent to ${purpose} has ended: nothing is sent for it.`,
    }))
  }
  // What every route stands still for is told once, as the policy's.
  const { status, text } = gatewayWordsOf(reason, facts)
  if (status !== 'blocked' || reason === facts.policy.block) return []
  const isConsent = reason.startsWith('consent_') || reason === 'egress_not_acknowledged'
  return [{
    what: isConsent ? 'consent' : 'capability', count: 1,
    text: `gateway is blocked (${reason}). ${text}`,
    command: nextStepsOf(text)[0]?.command ?? show,
  }]
}
