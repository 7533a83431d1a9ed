import { alphaRecoveryRule } from '../alpha/recovery-rule.js'
import { SallyportError } from '../base/errors.js'
import { settleDeadCalls } from '../gateway/call/open-calls.js'
import type { Gov } from '../governance/context.js'
import { deploymentProfile } from '../governance/profile.js'
import type { RecoveryRule } from '../governance/interrupted.js'
import { recoverInterrupted, type RecoveryReport } from '../governance/recovery.js'
import { settleAnalyses } from '../shots/analysis/settle.js'
import type { Store } from '../state/types.js'

/**
 * Every capability's own rule of an interrupted task. None where the sealed profile does not open:
 * what was interrupted is then ended without a receipt, which a damaged state must not prevent.
 */
export const recoveryRules = (store: Store): readonly RecoveryRule[] => {
  try {
    return [alphaRecoveryRule(deploymentProfile(store).provider)]
  } catch (error) {
    if (error instanceof SallyportError) return []
    throw error
  }
}

/**
 * Resolves what dead processes left, with every capability's own rule. Faces call it once when
 * they open the state for a mutating verb, before anything else.
 */
export const recoverState = async (gov: Gov): Promise<RecoveryReport> => {
  const report = await recoverInterrupted(gov, recoveryRules(gov.store))
  await settleDeadCalls(gov)
  // After the money, because what became of an image follows what became of its charge.
  await settleAnalyses(gov)
  return report
}
