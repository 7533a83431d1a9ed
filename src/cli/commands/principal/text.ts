/** An owner as text. */
import type { PrincipalDocument } from '../../../governance/principals-contract.js'
import { fieldLines } from '../../text.js'

/** One word for how an owner stands. */
export const principalState = ({ disabled_at }: PrincipalDocument): string =>
  disabled_at === null ? 'enabled' : 'disabled'

/** An owner as lines of text. */
export const principalText = (facts: PrincipalDocument): string => fieldLines([
  ['owner', facts.name],
  ['id', facts.id],
  ['state', principalState(facts)],
  ['passphrase', facts.has_passphrase ? 'yes' : 'none'],
])
