/** An owner as text. */
import type { PrincipalDocument } from '../../../governance/principals-contract.js'
import { fieldLines } from '../../text.js'

/** How an owner stands, in a few words. */
export const principalState = (
  { disabled_at: at, disabled_for_good: forGood }: PrincipalDocument,
): string => {
  if (at === null) return 'enabled'
  return forGood ? 'disabled for good' : 'disabled by a restore'
}

/** An owner as lines of text. */
export const principalText = (facts: PrincipalDocument): string => fieldLines([
  ['owner', facts.name],
  ['id', facts.id],
  ['state', principalState(facts)],
  ['passphrase', facts.has_passphrase ? 'yes' : 'none'],
])
