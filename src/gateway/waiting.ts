/** What of the model route stands blocked until a person acts; its money is told besides. */
import { nextStepsOf } from '../base/next-step.js'
import type { Gov } from '../governance/context.js'
import type { OwnWaiting } from '../governance/waiting.js'
import type { View } from '../state/types.js'
import { slotNames, proofPurpose, type GatewayPlace, type SlotName } from './constants.js'
import { gatewayFacts, gatewayReasonOf, gatewayWordsOf, type GatewayFacts } from './readiness.js'

const show = 'sallyport gateway show'

/** Slots that are set and whose consent has run out; one that was taken back waits for nobody. */
const expiredSlots = ({ route, consents }: GatewayFacts): readonly SlotName[] =>
  slotNames.filter((slot) => {
    const isSet = (route?.slots[slot] ?? null) !== null
    return isSet && consents[proofPurpose[slot]].lapse === 'expired'
  })

/** Why nothing goes through, by the reason that the status tells; else slots without consent. */
export const gatewayWaiting = (
  gov: Gov, view: View, place: GatewayPlace,
): readonly OwnWaiting[] => {
  const facts = gatewayFacts(gov, view, place)
  const reason = facts.route === null ? null : gatewayReasonOf(facts, facts.route)
  if (reason === null) {
    return expiredSlots(facts).map((slot) => ({
      what: 'consent', count: 1, command: show,
      text: `The consent to the slot ${slot} has expired: nothing goes through it.`,
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
