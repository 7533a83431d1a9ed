import { alphaRecoveryRule } from '../alpha/recovery-rule.js'
import type { Gov } from '../governance/gov.js'
import { deploymentProfile } from '../governance/profile.js'
import { recoverInterrupted, type RecoveryReport } from '../governance/recovery.js'

/**
 * Resolves what dead processes left, with every capability's own rule. Faces call it once when
 * they open the state for a mutating verb, before anything else.
 */
export const recoverState = (gov: Gov): Promise<RecoveryReport> =>
  recoverInterrupted(gov, [alphaRecoveryRule(deploymentProfile(gov.store).provider)])
