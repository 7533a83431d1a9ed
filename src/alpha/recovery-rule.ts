import { getTask } from '../governance/board/read.js'
import type { RecoveryRule } from '../governance/recovery.js'
import { writeReceipt } from './ask/finish.js'
import { alphaCapability, costLiability, type AlphaProvider } from './constants.js'

/** What this capability says of an ask whose process died. */
export const alphaRecoveryRule = (provider: AlphaProvider): RecoveryRule => ({
  kind: alphaCapability,
  unknownReason: costLiability.reason,
  onInterrupted: (tx, now, task) => {
    writeReceipt(tx, now, getTask(tx, task.task_id), provider)
  },
})
