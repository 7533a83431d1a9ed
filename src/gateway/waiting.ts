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
 * Whether the consent to a purpose of a slot that is set has run out, or ended with a revoke of
 * everything and none was given since. Whoever gave one back has chosen, and one that was taken
 * back by itself waits for nobody.
 */
const isLapsed = ({ route, consents }: GatewayFacts, purpose: GatewayPurpose): boolean => {
  const isSet = (route?.slots[slotOfPurpose[purpose]] ?? null) !== null
  const { lapse, newest } = consents[purpose]
  const isChosen = gatewayPurposes.some((one) => consents[one].lapse === null)
  const isEnded = newest?.state === 'revoked' || newest?.state === 'cleared'
  return isSet && (lapse === 'expired' || (isEnded && !isChosen))
}

/** Whether what closes a purpose is told to wait already: by the policy, or here. */
export const isToldToWait = (
  facts: GatewayFacts, purpose: GatewayPurpose, reason: string,
): boolean => reason === facts.policy.block
  || (reason === 'consent_not_current' && isLapsed(facts, purpose))

/** Why nothing goes through, by the reason that the status tells; else slots without consent. */
export const gatewayWaiting = (
  gov: Gov, view: View, place: GatewayPlace,
): readonly OwnWaiting[] => {
  const facts = gatewayFacts(gov, view, place)
  const reason = facts.route === null ? null : gatewayReasonOf(facts, facts.route)
  if (reason === null) {
    return gatewayPurposes.filter((one) => isLapsed(facts, one)).map((purpose) => ({
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
