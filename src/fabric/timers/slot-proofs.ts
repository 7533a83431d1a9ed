/** What a gateway's proofs are worth now, a slot each. Opens no socket. */
import { msFromIso } from '../../base/clock.js'
import { slotNames } from '../../gateway/constants.js'
import { gatewayFacts } from '../../gateway/readiness.js'
import type { Gov } from '../../governance/context.js'
import { routePlaces } from '../places.js'
import type { TimerStatus } from './timers-contract.js'

/** The proof of each slot that is set. */
export const slotProofs = (gov: Gov): TimerStatus['proofs'] => {
  const { route, proofs } = gatewayFacts(gov, gov.store.read(), routePlaces(gov).gateway)
  return slotNames.filter((slot) => route !== null && route.slots[slot] !== null).map((slot) => {
    const { state, proof } = proofs[slot]
    const ageMs = proof === null || proof === undefined
      ? null : gov.clock.wallMs() - msFromIso(proof.made_at)
    return {
      slot, state,
      age_seconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1_000)),
    }
  })
}
