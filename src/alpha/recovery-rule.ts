import { getTask } from '../governance/board/read.js'
import { defaultEnding, type RecoveryRule } from '../governance/interrupted.js'
import { writeReceipt } from './ask/finish.js'
import { alphaCapability, costLiability, type AlphaProvider } from './constants.js'

/** What this capability says of an ask whose process died. */
export const alphaRecoveryRule = (provider: AlphaProvider): RecoveryRule => ({
  kinds: [alphaCapability],
  ending: (found) => found.money === 'owed'
    ? { state: 'blocked', blocked: costLiability }
    : defaultEnding(found),
  keep: (tx, now, task) => {
    writeReceipt(tx, now, getTask(tx, task.task_id), provider)
  },
})
