import {
  gatewayPurposes, proofPurpose, slotOfPurpose, type GatewayPurpose, type SlotName,
} from './constants.js'
import { isCurrent, type GatewayFacts } from './readiness.js'

/**
 * The purpose that a proof of a slot rests on now: whichever of the slot's own is consented to, so
 * that who consents to one alone can prove the slot.
 */
export const proofPurposeNow = (facts: GatewayFacts, slot: SlotName): GatewayPurpose =>
  gatewayPurposes.find((one) => slotOfPurpose[one] === slot && isCurrent(facts, one))
    ?? proofPurpose[slot]
