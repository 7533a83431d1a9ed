import type { CapabilityRecovery } from '../governance/capability.js'
import { defaultEnding } from '../governance/interrupted.js'
import { deploymentProfile } from '../governance/profile.js'
import { writeReceipt } from './ask/finish.js'
import { costLiability } from './constants.js'

/**
 * What this capability says of an ask whose process died. Where the sealed
 * profile does not open the ask ends all the same, without a receipt.
 */
export const alphaRecovery: CapabilityRecovery = {
  rule: (store) => ({
    ending: (found) => found.money === 'owed'
      ? { state: 'blocked', blocked: costLiability }
      : defaultEnding(found),
    keep: (tx, now, task) => {
      writeReceipt(tx, now, task, deploymentProfile(store).provider)
    },
  }),
  sweep: async (gov) => {
    const { sweepInputs } = await import('./ask/kept-input.js')
    return sweepInputs(gov)
  },
}
