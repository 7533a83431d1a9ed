/** What the state knows of its timers: last runs, proofs and their renewal. Opens no socket. */
import { msFromIso } from '../../base/clock.js'
import { slotNames } from '../../gateway/constants.js'
import { gatewayFacts } from '../../gateway/readiness.js'
import type { Gov } from '../../governance/context.js'
import { lastRuns } from '../../shots/last-runs.js'
import { renewsProof, savedSettings } from '../../shots/source/settings.js'
import { routePlaces } from '../places.js'
import type { Timers } from './timers-contract.js'

/** The part of the answer that comes out of the state. */
export type TimerStatus = Pick<Timers, 'last_runs' | 'proofs' | 'renew_proof'>

/** Where no state was asked. */
export const noTimerStatus: TimerStatus = { last_runs: null, proofs: [], renew_proof: null }

/** Reads it. */
export const timerStatus = (gov: Gov): TimerStatus => {
  const view = gov.store.read()
  const { route, proofs } = gatewayFacts(gov, view, routePlaces(gov).gateway)
  return {
    last_runs: { ...lastRuns(gov.store, view) },
    proofs: slotNames.filter((slot) => route !== null && route.slots[slot] !== null)
      .map((slot) => {
        const { state, proof } = proofs[slot]
        const ageMs = proof === null || proof === undefined
          ? null : gov.clock.wallMs() - msFromIso(proof.made_at)
        return {
          slot, state,
          age_seconds: ageMs === null ? null : Math.max(0, Math.floor(ageMs / 1_000)),
        }
      }),
    renew_proof: renewsProof(savedSettings(view)),
  }
}
