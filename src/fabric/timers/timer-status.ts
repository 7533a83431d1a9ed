/** What the state knows of its timers: last runs, proofs and their renewal. Opens no socket. */
import type { Gov } from '../../governance/context.js'
import { lastFailures, lastRuns } from '../../shots/last-runs.js'
import { renewsProof, savedSettings } from '../../shots/source/settings.js'
import { slotProofs } from './slot-proofs.js'
import type { TimerStatus } from './timers-contract.js'

export const timerStatus = (gov: Gov): TimerStatus => {
  const view = gov.store.read()
  return {
    last_runs: { ...lastRuns(gov.store, view) },
    last_failures: [...lastFailures(gov.store, view)],
    proofs: slotProofs(gov),
    renew_proof: renewsProof(savedSettings(view)),
  }
}
