/** What the state knows of its timers: last runs, proofs and their renewal. Opens no socket. */
import { msFromIso } from '../../base/clock.js'
import { slotNames } from '../../gateway/constants.js'
import { gatewayFacts } from '../../gateway/readiness.js'
import type { Gov } from '../../governance/context.js'
import type { LookingWorld } from '../../governance/waiting.js'
import { lastFailures, lastRuns } from '../../shots/last-runs.js'
import { currentFacts } from '../../shots/observations/as-of-now.js'
import { renewsProof, savedSettings } from '../../shots/source/settings.js'
import { lookingShots } from '../contexts/shots.js'
import { routePlaces } from '../places.js'
import type { Timers } from './timers-contract.js'

/** The part of the answer that comes out of the state. */
export type TimerStatus = Pick<Timers, 'last_runs' | 'last_failures' | 'proofs' | 'renew_proof'>

/** Where no state was asked. */
export const noTimerStatus: TimerStatus =
  { last_runs: null, last_failures: [], proofs: [], renew_proof: null }

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

/** Reads it. */
export const timerStatus = (gov: Gov, world: LookingWorld): TimerStatus => {
  const view = gov.store.read()
  const { folderDigest } = currentFacts(lookingShots(world, gov), view)
  return {
    last_runs: { ...lastRuns(gov.store, view) },
    last_failures: [...lastFailures(gov.store, view, folderDigest)],
    proofs: slotProofs(gov),
    renew_proof: renewsProof(savedSettings(view)),
  }
}
