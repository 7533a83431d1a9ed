/** What the state knows of its timers: last runs, proofs and their renewal. Opens no socket. */
import type { Gov } from '../../governance/context.js'
import type { LookingWorld } from '../../governance/waiting.js'
import { lastFailures, lastRuns } from '../../shots/last-runs.js'
import { currentFacts } from '../../shots/observations/as-of-now.js'
import { renewsProof, savedSettings } from '../../shots/source/settings.js'
import { lookingShots } from '../contexts/shots.js'
import { slotProofs } from './slot-proofs.js'
import type { TimerStatus } from './timers-contract.js'

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
